package codec

import "teamdata/store"

// Member codes the fields of a record in their order; new ones go to the end.
func Member(c *Codec, m *store.Member) {
	c.text(&m.OrgID)
	c.text(&m.ID)
	c.text(&m.UserID)
	c.text(&m.Role)
	c.text(&m.Name)
	c.text(&m.Email)
	c.time(&m.CreatedAt)
}
