package codec

import "teamdata/store"

// Session codes the fields of a record in their order; new ones go to the end.
func Session(c *Codec, s *store.Session) {
	c.text(&s.ID)
	c.text(&s.UserID)
	c.hash((*[32]byte)(&s.SecretHash))
	c.text(&s.UserAgent)
	c.time(&s.CreatedAt)
	c.time(&s.LastSeenAt)
	portal(c, &s.Portal)
}
