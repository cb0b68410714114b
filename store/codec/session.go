package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// Session codes the fields of a record in their order; new ones go to the end.
func Session(c *rows.Codec, s *store.Session) {
	c.Text(&s.ID)
	c.Text(&s.UserID)
	c.Hash((*[32]byte)(&s.SecretHash))
	c.Text(&s.UserAgent)
	c.Time(&s.CreatedAt)
	c.Time(&s.LastSeenAt)
	portal(c, &s.Portal)
}
