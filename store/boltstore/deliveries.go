package boltstore

import (
	"bytes"
	"encoding/binary"
	"math"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

func (t *tx) AddEvent(e store.Event) error {
	return t.insert(t.bucket(bucketEvents), []byte(e.ID), encode(eventFields(&e)))
}

func (t *tx) Event(id string) (e store.Event, err error) {
	return e, t.get(bucketEvents, []byte(id), "event", eventFields(&e))
}

func (t *tx) DeleteEvent(id string) error { return t.delete(t.bucket(bucketEvents), []byte(id)) }

func (t *tx) AddDelivery(d store.Delivery) error {
	if err := t.insert(t.bucket(bucketDeliveries), []byte(d.ID), encode(deliveryFields(&d))); err != nil {
		return err
	}
	return t.enlist(&d)
}

func (t *tx) Delivery(id string) (d store.Delivery, err error) {
	return d, t.get(bucketDeliveries, []byte(id), "delivery", deliveryFields(&d))
}

func (t *tx) PutDelivery(d store.Delivery) error {
	key, b := []byte(d.ID), t.bucket(bucketDeliveries)
	old := b.Get(key)
	if err := t.unlist(old); err != nil {
		return err
	}
	if err := t.replace(b, key, old, encode(deliveryFields(&d))); err != nil {
		return err
	}
	return t.enlist(&d)
}

func (t *tx) DeleteDelivery(id string) error {
	key, b := []byte(id), t.bucket(bucketDeliveries)
	if err := t.unlist(b.Get(key)); err != nil {
		return err
	}
	return t.delete(b, key)
}

// enlist enters a delivery in its endpoint's list.
func (t *tx) enlist(d *store.Delivery) error {
	if d.State.Waiting() {
		t.due = append(t.due, dueAt{d.EndpointNumber, d.DueAt})
	}
	return t.insert(t.bucket(bucketDeliveryLists), placeOf(d), []byte{})
}

// unlist takes the delivery of a record from the list that it is in.
func (t *tx) unlist(record []byte) error {
	var d store.Delivery
	if err := found(record, "delivery", deliveryFields(&d)); err != nil {
		return err
	}
	b, place := t.bucket(bucketDeliveryLists), placeOf(&d)
	t.undo = append(t.undo, change{b, place, []byte{}})
	return storageFault(b.Delete(place))
}

func placeOf(d *store.Delivery) []byte {
	list, at := d.Position()
	return placeKey(d.EndpointNumber, list, at)
}

func (t *tx) DeliveryPage(endpoint uint64, list store.DeliveryList, after store.Cursor, limit int) (page []store.Delivery, more bool, err error) {
	prefix := listStart(endpoint, list)
	c := t.bolt.Bucket(bucketDeliveryLists).Cursor()
	key, step := seekPlace(c, endpoint, list, after), c.Next
	if list != store.ListWaiting {
		key, step = lastBefore(c, prefix, endOfPage(endpoint, list, after)), c.Prev
	}
	for ; bytes.HasPrefix(key, prefix); key, _ = step() {
		if len(page) == limit {
			return page, true, nil
		}
		d, err := t.Delivery(string(key[17:]))
		if err != nil {
			return nil, false, err
		}
		page = append(page, d)
	}
	return page, false, nil
}

func (t *tx) CountDeliveries(endpoint uint64, list store.DeliveryList, most int) (n int, err error) {
	prefix := listStart(endpoint, list)
	c := t.bolt.Bucket(bucketDeliveryLists).Cursor()
	for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix) && n < most; key, _ = c.Next() {
		n++
	}
	return n, nil
}

// seekPlace finds the first place behind a position.
func seekPlace(c *bbolt.Cursor, endpoint uint64, list store.DeliveryList, after store.Cursor) []byte {
	from := placeKey(endpoint, list, after)
	key, _ := c.Seek(from)
	if bytes.Equal(key, from) {
		key, _ = c.Next()
	}
	return key
}

// endOfPage is where a page ends that is read backwards.
func endOfPage(endpoint uint64, list store.DeliveryList, before store.Cursor) []byte {
	if before == (store.Cursor{}) {
		return listStart(endpoint, list+1)
	}
	return placeKey(endpoint, list, before)
}

// FinishedBefore looks at the beginning of each endpoint's two finished lists.
func (t *tx) FinishedBefore(before time.Time, limit int) (ids []string, err error) {
	end := uint64(max(before.UnixMilli(), 0)) // a clock may stand at 1970
	c := t.bolt.Bucket(bucketDeliveryLists).Cursor()
	for key, _ := c.First(); key != nil && len(ids) < limit; {
		endpoint, list, at := readPlaceKey(key)
		switch {
		case list != store.ListWaiting && at.Ms < end:
			ids = append(ids, at.ID)
			key, _ = c.Next()
		case list == store.ListFailed && endpoint == math.MaxUint64:
			return ids, nil
		case list == store.ListFailed:
			key, _ = c.Seek(numberKey(endpoint + 1))
		default:
			key, _ = c.Seek(listStart(endpoint, store.ListFailed))
		}
	}
	return ids, nil
}

func (t *tx) LastAcknowledged(endpoint uint64) (at time.Time, err error) {
	return timeIn(t.bolt.Bucket(bucketLastAcknowledged), numberKey(endpoint)), nil
}

// timeIn is a time that is kept in ms; zero when there is none.
func timeIn(b *bbolt.Bucket, key []byte) (at time.Time) {
	if ms := b.Get(key); len(ms) == 8 {
		at = time.UnixMilli(int64(binary.BigEndian.Uint64(ms))).UTC()
	}
	return at
}

func (t *tx) PutLastAcknowledged(endpoint uint64, at time.Time) error {
	return t.put(t.bucket(bucketLastAcknowledged), numberKey(endpoint), numberKey(uint64(at.UnixMilli())))
}
