package codec

import "teamdata/store"

// SignInLink codes the fields of a record in their order; new ones go to the end.
func SignInLink(c *Codec, l *store.SignInLink) {
	c.text(&l.ID)
	c.text(&l.UserID)
	c.hash((*[32]byte)(&l.SecretHash))
	c.time(&l.CreatedAt)
	c.time(&l.ExpiresAt)
	portal(c, &l.Portal)
}
