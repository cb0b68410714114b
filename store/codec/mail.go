package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// Mail codes the fields of a record in their order; new ones go to the end.
func Mail(c *rows.Codec, m *store.Mail) {
	c.Text(&m.ID)
	c.Text(&m.OrgID)
	c.Text(&m.To)
	c.Text(&m.Name)
	c.Text(&m.Template)
	c.Pairs(&m.Values)
	c.Time(&m.CreatedAt)
	c.Int(&m.Attempts)
	c.Time(&m.DueAt)
}
