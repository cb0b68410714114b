package codec

import "teamdata/store"

// Event codes the fields of a record in their order; new ones go to the end.
func Event(c *Codec, e *store.Event) {
	eventHead(c, e)
	c.texts(&e.Deliveries)
}

// eventHead codes the first fields of an event, up to its body.
func eventHead(c *Codec, e *store.Event) {
	c.text(&e.ID)
	c.text(&e.OrgID)
	c.text(&e.Type)
	c.time(&e.CreatedAt)
	c.bytes(&e.Body)
}

// EventBody returns a copy of the body in an event's record, and reads no more of it.
func EventBody(record []byte) ([]byte, error) {
	c, e := Codec{buf: record, reading: true, skipping: true}, store.Event{}
	if eventHead(&c, &e); c.broken {
		return nil, ErrRecord
	}
	return e.Body, nil
}
