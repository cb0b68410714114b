package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// Plan codes the fields of a record in their order; new ones go to the end.
func Plan(c *rows.Codec, p *store.Plan) {
	c.Text(&p.Name)
	rows.Small(c, &p.Features)
}
