package codec

import "teamdata/store"

// portal codes the end of a link's or a session's record.
func portal(c *Codec, p *store.Portal) {
	c.text(&p.OrgID)
	c.text(&p.Role)
	c.text(&p.Name)
	c.text(&p.Email)
	c.text(&p.Membership)
}
