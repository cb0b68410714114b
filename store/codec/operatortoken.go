package codec

import "teamdata/store"

// OperatorToken codes the fields of a record in their order; new ones go to the end.
func OperatorToken(c *Codec, o *store.OperatorToken) {
	c.text(&o.ID)
	c.text(&o.Name)
	c.hash((*[32]byte)(&o.SecretHash))
	c.time(&o.CreatedAt)
	c.time(&o.ExpiresAt)
}
