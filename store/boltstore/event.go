package boltstore

import (
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/codec"
)

var events = table[store.Event]{bucket: bucketEvents, noun: "event", fields: codec.Event}

// maxShared is the maximum length of a body that shares its delivery's record,
// which every attempt rewrites: as much as an attempt may add to it.
const maxShared = store.MaxKeptAnswer

// AddEvent stores a short event in the record of its only delivery.
func (t *tx) AddEvent(e store.Event, list []store.Delivery) error {
	if len(list) == 1 && canShare(&e, &list[0]) {
		return t.addDelivery(codec.DeliveryRecord{Body: e.Body, Delivery: list[0]})
	}
	if err := events.insert(t, []byte(e.ID), e); err != nil {
		return err
	}
	for _, d := range list {
		if err := t.addDelivery(codec.DeliveryRecord{Delivery: d}); err != nil {
			return err
		}
	}
	return nil
}

// canShare reports whether an event can share its delivery's record: all but the
// body is in there anyway.
func canShare(e *store.Event, d *store.Delivery) bool {
	return 0 < len(e.Body) && len(e.Body) <= maxShared && isFirst(d) && e.ID == d.EventID && e.OrgID == d.OrgID &&
		e.Type == d.EventType && e.CreatedAt.Equal(d.CreatedAt) && len(e.Deliveries) == 1 && e.Deliveries[0] == d.ID
}

// isFirst reports whether a delivery and its event are found by one another's id.
func isFirst(d *store.Delivery) bool {
	return strings.HasPrefix(d.EventID, store.PrefixEvent) && store.FirstDelivery(d.EventID) == d.ID
}

// Event finds an event in a record of its own, or in its delivery's.
func (t *tx) Event(id string) (store.Event, error) {
	e, err := events.get(t, []byte(id))
	if !store.IsNotFound(err) {
		return e, err
	}
	r, errShared := t.deliveryRecord(store.FirstDelivery(id))
	if store.IsNotFound(errShared) || errShared == nil && (len(r.Body) == 0 || r.EventID != id) {
		return e, err
	}
	return eventIn(&r), errShared
}

// eventIn is the event that shares the record of a delivery.
func eventIn(r *codec.DeliveryRecord) store.Event {
	return store.Event{
		ID: r.EventID, OrgID: r.OrgID, Type: r.EventType, CreatedAt: r.CreatedAt, Body: r.Body, Deliveries: []string{r.ID},
	}
}

// dropEvent deletes an event's own record if none of its deliveries is left.
func (t *tx) dropEvent(id string) error {
	e, err := events.get(t, []byte(id))
	if err != nil || anyOf(t.bolt.Bucket(bucketDeliveries), e.Deliveries) {
		return err
	}
	return events.delete(t, []byte(id))
}

// anyOf reports whether a bucket has any of some keys.
func anyOf(b *bbolt.Bucket, keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return b.Get([]byte(key)) != nil })
}

// events checks that each event still has a delivery.
func (c *checker) events() {
	events.check(c, func(key []byte, e *store.Event) {
		if e.ID != string(key) {
			c.fault("events %q: holds the event %q", key, e.ID)
		}
		if !anyOf(c.bolt.Bucket(bucketDeliveries), e.Deliveries) {
			c.fault("events %q: none of its deliveries is there", key)
		}
	})
}
