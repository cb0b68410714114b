package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// Instructions codes the fields of a record in their order; new ones go to the end.
func Instructions(c *rows.Codec, i *store.Instructions) {
	c.Text(&i.Text)
	c.Flag(&i.Set)
	c.Time(&i.UpdatedAt)
}
