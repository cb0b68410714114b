package codec

import "teamdata/store"

// EventType codes the fields of a record in their order; new ones go to the end.
func EventType(c *Codec, e *store.EventType) {
	c.text(&e.Name)
	c.text(&e.Description)
	c.bytes(&e.Schema)
	c.time(&e.CreatedAt)
}
