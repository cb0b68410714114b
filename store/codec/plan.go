package codec

import "teamdata/store"

// Plan codes the fields of a record in their order; new ones go to the end.
func Plan(c *Codec, p *store.Plan) {
	c.text(&p.Name)
	small(c, &p.Features)
}
