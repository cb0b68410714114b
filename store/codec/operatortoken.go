package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// OperatorToken codes the fields of a record in their order; new ones go to the end.
func OperatorToken(c *rows.Codec, o *store.OperatorToken) {
	c.Text(&o.ID)
	c.Text(&o.Name)
	c.Hash((*[32]byte)(&o.SecretHash))
	c.Time(&o.CreatedAt)
	c.Time(&o.ExpiresAt)
}
