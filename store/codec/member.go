package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// Member codes the fields of a record in their order; new ones go to the end.
func Member(c *rows.Codec, m *store.Member) {
	c.Text(&m.OrgID)
	c.Text(&m.ID)
	c.Text(&m.UserID)
	c.Text(&m.Role)
	c.Text(&m.Name)
	c.Text(&m.Email)
	c.Time(&m.CreatedAt)
}
