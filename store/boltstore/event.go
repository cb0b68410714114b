package boltstore

import "teamdata/store"

var events = table[store.Event]{bucket: bucketEvents, noun: "event", fields: eventFields}

func eventFields(c *codec, e *store.Event) {
	c.text(&e.ID)
	c.text(&e.OrgID)
	c.text(&e.Type)
	c.time(&e.CreatedAt)
	c.bytes(&e.Body)
	c.texts(&e.Deliveries)
}

func (t *tx) AddEvent(e store.Event) error { return events.insert(t, []byte(e.ID), e) }

func (t *tx) Event(id string) (store.Event, error) { return events.get(t, []byte(id)) }

func (t *tx) DeleteEvent(id string) error { return events.delete(t, []byte(id)) }

// events checks that each event still has a delivery.
func (c *checker) events() {
	events.check(c, func(key []byte, e *store.Event) {
		if e.ID != string(key) {
			c.fault("events %q: holds the event %q", key, e.ID)
		}
		if !c.anyDelivery(e) {
			c.fault("events %q: none of its deliveries is there", key)
		}
	})
}

func (c *checker) anyDelivery(e *store.Event) bool {
	for _, id := range e.Deliveries {
		if c.get(bucketDeliveries, []byte(id)) != nil {
			return true
		}
	}
	return false
}
