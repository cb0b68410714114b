package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// Event codes the fields of a record in their order; new ones go to the end.
func Event(c *rows.Codec, e *store.Event) {
	eventHead(c, e)
	c.Texts(&e.Deliveries)
}

// eventHead codes the first fields of an event, up to its body.
func eventHead(c *rows.Codec, e *store.Event) {
	c.Text(&e.ID)
	c.Text(&e.OrgID)
	c.Text(&e.Type)
	c.Time(&e.CreatedAt)
	c.Bytes(&e.Body)
}

// EventBody returns a copy of the body in an event's record, and reads no more of it.
func EventBody(record []byte) ([]byte, error) {
	c, e := rows.HeadOf(record), store.Event{}
	eventHead(&c, &e)
	return e.Body, c.Err()
}
