package boltstore

import (
	"bytes"
	"slices"

	"teamdata/store"
)

func (c *checker) deliveries() {
	deliveries := c.each(bucketDeliveries, func(key, record []byte) {
		var d store.Delivery
		c.read(bucketDeliveries, key, record, deliveryFields(&d))
		if d.ID != string(key) {
			c.fault("deliveries %q: holds the delivery %q", key, d.ID)
		}
		c.eventOf(&d)
		if c.get(bucketDeliveryLists, placeOf(&d)) == nil {
			c.fault("deliveries %q: is %s, and not in that list of its endpoint", key, d.State)
		}
	})
	if listed := c.places(); listed != deliveries {
		c.fault("deliveryLists: has %d entries for %d deliveries", listed, deliveries)
	}
}

// places holds the endpoints that have lists to being there, or removed and not
// forgotten, and counts what is in the lists.
func (c *checker) places() int {
	var last []byte
	return c.each(bucketDeliveryLists, func(key, _ []byte) {
		number := key[:min(len(key), 8)]
		if bytes.Equal(number, last) {
			return
		}
		if last = number; !c.isEndpoint(number) {
			c.fault("deliveryLists %q: there is no endpoint of that number", number)
		}
	})
}

// eventOf holds a delivery's event to being there, and to naming the delivery.
func (c *checker) eventOf(d *store.Delivery) {
	var e store.Event
	record := c.get(bucketEvents, []byte(d.EventID))
	switch {
	case record == nil:
		c.fault("deliveries %q: its event %q is missing", d.ID, d.EventID)
	case decode(record, eventFields(&e)) == nil && !slices.Contains(e.Deliveries, d.ID):
		c.fault("deliveries %q: its event %q does not name it", d.ID, d.EventID)
	}
}

func (c *checker) events() {
	c.each(bucketEvents, func(key, record []byte) {
		var e store.Event
		c.read(bucketEvents, key, record, eventFields(&e))
		if e.ID != string(key) {
			c.fault("events %q: holds the event %q", key, e.ID)
		}
		if !c.anyDelivery(&e) {
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
