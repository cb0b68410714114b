package codec

import "teamdata/store"

// Mail codes the fields of a record in their order; new ones go to the end.
func Mail(c *Codec, m *store.Mail) {
	c.text(&m.ID)
	c.text(&m.OrgID)
	c.text(&m.To)
	c.text(&m.Name)
	c.text(&m.Template)
	c.pairs(&m.Values)
	c.time(&m.CreatedAt)
	c.int(&m.Attempts)
	c.time(&m.DueAt)
}
