package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// SignInLink codes the fields of a record in their order; new ones go to the end.
func SignInLink(c *rows.Codec, l *store.SignInLink) {
	c.Text(&l.ID)
	c.Text(&l.UserID)
	c.Hash((*[32]byte)(&l.SecretHash))
	c.Time(&l.CreatedAt)
	c.Time(&l.ExpiresAt)
	portal(c, &l.Portal)
}
