package codec

import "teamdata/store"

// Instructions codes the fields of a record in their order; new ones go to the end.
func Instructions(c *Codec, i *store.Instructions) {
	c.text(&i.Text)
	c.flag(&i.Set)
	c.time(&i.UpdatedAt)
}
