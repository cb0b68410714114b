package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// portal codes the end of a link's or a session's record.
func portal(c *rows.Codec, p *store.Portal) {
	c.Text(&p.OrgID)
	c.Text(&p.Role)
	c.Text(&p.Name)
	c.Text(&p.Email)
	c.Text(&p.Membership)
}
