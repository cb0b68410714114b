package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// EventType codes the fields of a record in their order; new ones go to the end.
func EventType(c *rows.Codec, e *store.EventType) {
	c.Text(&e.Name)
	c.Text(&e.Description)
	c.Bytes(&e.Schema)
	c.Time(&e.CreatedAt)
}
