package codec

import "teamdata/store"

// Event codes the fields of a record in their order; new ones go to the end.
func Event(c *Codec, e *store.Event) {
	c.text(&e.ID)
	c.text(&e.OrgID)
	c.text(&e.Type)
	c.time(&e.CreatedAt)
	c.bytes(&e.Body)
	c.texts(&e.Deliveries)
}
