package boltstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/codec"
	"teamdata/store/rows"
)

var deliveries = table[codec.DeliveryRecord]{bucket: bucketDeliveries, noun: "delivery", fields: codec.Record}

func (t *tx) addDelivery(r codec.DeliveryRecord) error {
	if err := t.insert(t.bucket(bucketDeliveries), []byte(r.ID), codec.EncodeDelivery(r)); err != nil {
		return err
	}
	return t.addToList(&r.Delivery)
}

// Delivery does not read the body.
func (t *tx) Delivery(id string) (store.Delivery, error) {
	return readDelivery(t.bolt.Bucket(bucketDeliveries), id)
}

// readDelivery reads a delivery from the bucket, which who reads many looks up once.
func readDelivery(b *bbolt.Bucket, id string) (store.Delivery, error) {
	record := b.Get([]byte(id))
	if record == nil {
		return store.Delivery{}, deliveries.missing()
	}
	d, err := rows.Decode(record, codec.Bodyless)
	codec.Complete(&d, id)
	return d, storageFault(err)
}

func (t *tx) deliveryRecord(id string) (codec.DeliveryRecord, error) {
	r, err := deliveries.get(t, []byte(id))
	codec.Complete(&r.Delivery, id)
	return r, err
}

func (t *tx) PutDelivery(d store.Delivery) error {
	key, b := []byte(d.ID), t.bucket(bucketDeliveries)
	old := b.Get(key)
	body, err := t.removeFromList(d.ID, old)
	if err != nil {
		return err
	}
	if err := t.replace(b, key, old, codec.EncodeDelivery(codec.DeliveryRecord{Body: body, Delivery: d})); err != nil {
		return err
	}
	if d.State.Waiting() {
		t.Again(d.ID)
	}
	return t.addToList(&d)
}

func (t *tx) DeleteDelivery(id string) error {
	d, err := t.Delivery(id)
	if err != nil {
		return err
	}
	key, b := []byte(id), t.bucket(bucketDeliveries)
	body, err := t.removeFromList(id, b.Get(key))
	if err != nil {
		return err
	}
	if err := t.delete(b, key); err != nil || len(body) > 0 {
		return err
	}
	return t.dropEvent(d.EventID)
}

// addToList adds a delivery to its endpoint's list.
func (t *tx) addToList(d *store.Delivery) error {
	if d.State.Waiting() {
		t.Due(d.EndpointNumber, d.DueAt)
	}
	b := t.bucket(bucketDeliveryLists)
	return eachPlace(d, func(place, value []byte) error { return t.insert(b, place, value) })
}

// eachPlace calls fn with a delivery's places in the lists, and their values.
func eachPlace(d *store.Delivery, fn func(place, value []byte) error) error {
	at, attempted := d.Attempted()
	if !attempted {
		return fn(placeOf(d), []byte{})
	}
	if err := fn(placeOf(d), numberKey(at.Ms)); err != nil {
		return err
	}
	return fn(placeKey(d.EndpointNumber, store.ListAttempted, at), []byte{})
}

// removeFromList removes the delivery of a record from the lists that it is in. It
// returns the record's body, which is only valid inside the transaction.
func (t *tx) removeFromList(id string, record []byte) (body []byte, err error) {
	if record == nil {
		return nil, deliveries.missing()
	}
	place, body, err := headOf(id, record)
	if err != nil {
		return nil, storageFault(err)
	}
	b := t.bucket(bucketDeliveryLists)
	attemptedAt := b.Get(place)
	if len(attemptedAt) == 8 {
		attempted := bytes.Clone(place)
		attempted[8] = byte(store.ListAttempted)
		copy(attempted[9:], attemptedAt)
		t.undo = append(t.undo, change{b, attempted, []byte{}})
		if err := b.Delete(attempted); err != nil {
			return nil, storageFault(err)
		}
	}
	t.undo = append(t.undo, change{b, place, append([]byte{}, attemptedAt...)})
	return body, storageFault(b.Delete(place))
}

func placeOf(d *store.Delivery) []byte {
	list, at := d.Position()
	return placeKey(d.EndpointNumber, list, at)
}

// headOf returns the place of a record's delivery, and the record's body, without
// reading more of it or copying it.
func headOf(id string, record []byte) (place, body []byte, err error) {
	d := store.Delivery{ID: id}
	if body, err = codec.Head(record, &d); err != nil {
		return nil, nil, err
	}
	return placeOf(&d), body, nil
}

func (t *tx) DeliveryPage(endpoint uint64, list store.DeliveryList, after store.Cursor, limit int) (page []store.Delivery, more bool, err error) {
	prefix, records := listStart(endpoint, list), t.bolt.Bucket(bucketDeliveries)
	c := t.bolt.Bucket(bucketDeliveryLists).Cursor()
	key, step := seekPlace(c, endpoint, list, after), c.Next
	if list != store.ListWaiting {
		key, step = lastBefore(c, prefix, endOfPage(endpoint, list, after)), c.Prev
	}
	for ; bytes.HasPrefix(key, prefix); key, _ = step() {
		if len(page) == limit {
			return page, true, nil
		}
		d, err := readDelivery(records, string(key[17:]))
		if err != nil {
			return nil, false, err
		}
		page = append(page, d)
	}
	return page, false, nil
}

func (t *tx) CountWaiting(e store.Endpoint, most int) (w store.Waiting, err error) {
	t.countWaiting(&w, &e, most)
	return w, nil
}

// countWaiting adds the deliveries waiting for an endpoint to w, up to most.
func (t *tx) countWaiting(w *store.Waiting, e *store.Endpoint, most int) {
	prefix := listStart(e.Number, store.ListWaiting)
	c := t.bolt.Bucket(bucketDeliveryLists).Cursor()
	for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Next() {
		if !w.Add(e.Disabled(), dueOf(key).After(t.now), most) {
			return
		}
	}
}

// seekPlace finds the first place after a position.
func seekPlace(c *bbolt.Cursor, endpoint uint64, list store.DeliveryList, after store.Cursor) []byte {
	from := placeKey(endpoint, list, after)
	key, _ := c.Seek(from)
	if bytes.Equal(key, from) {
		key, _ = c.Next()
	}
	return key
}

// endOfPage returns the end of a page that is read backwards.
func endOfPage(endpoint uint64, list store.DeliveryList, before store.Cursor) []byte {
	if before == (store.Cursor{}) {
		return listStart(endpoint, list+1)
	}
	return placeKey(endpoint, list, before)
}

// FinishedBefore reads the start of each endpoint's two finished lists.
func (t *tx) FinishedBefore(before time.Time, limit int) (ids []string, err error) {
	end := uint64(max(before.UnixMilli(), 0)) // a clock may be at 1970
	c := t.bolt.Bucket(bucketDeliveryLists).Cursor()
	for key, _ := c.First(); key != nil && len(ids) < limit; {
		endpoint, list, at := readPlaceKey(key)
		switch {
		case (list == store.ListAcknowledged || list == store.ListFailed) && at.Ms < end:
			ids = append(ids, at.ID)
			key, _ = c.Next()
		case list >= store.ListFailed && endpoint == math.MaxUint64:
			return ids, nil
		case list >= store.ListFailed:
			key, _ = c.Seek(numberKey(endpoint + 1))
		default:
			key, _ = c.Seek(listStart(endpoint, store.ListFailed))
		}
	}
	return ids, nil
}

// HeldBefore reads the start of each disabled endpoint's waiting list.
func (t *tx) HeldBefore(before time.Time, limit int) (ids []string, err error) {
	err = t.eachWaiting(context.Background(), func(e store.Endpoint, _ dueAt) {
		if !e.Disabled() || !e.DisabledAt.Before(before) {
			return
		}
		prefix := listStart(e.Number, store.ListWaiting)
		c := t.bolt.Bucket(bucketDeliveryLists).Cursor()
		for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix) && dueOf(key).Before(before) && len(ids) < limit; key, _ = c.Next() {
			_, _, at := readPlaceKey(key)
			ids = append(ids, at.ID)
		}
	})
	return ids, err
}

func (t *tx) LastAcknowledged(endpoint uint64) (at time.Time, err error) {
	if ms := t.bolt.Bucket(bucketLastAcknowledged).Get(numberKey(endpoint)); len(ms) == 8 {
		at = time.UnixMilli(int64(binary.BigEndian.Uint64(ms))).UTC()
	}
	return at, nil
}

func (t *tx) PutLastAcknowledged(endpoint uint64, at time.Time) error {
	return t.put(t.bucket(bucketLastAcknowledged), numberKey(endpoint), numberKey(uint64(at.UnixMilli())))
}

// deliveries checks that each delivery has its event and its place in a list, and
// that data kept per endpoint is of an existing or removed endpoint.
func (c *checker) deliveries() {
	places := 0
	deliveries.check(c, func(key []byte, r *codec.DeliveryRecord) {
		codec.Complete(&r.Delivery, string(key))
		c.eventOf(r)
		eachPlace(&r.Delivery, func(place, value []byte) error {
			if found := c.get(bucketDeliveryLists, place); found == nil || !bytes.Equal(found, value) {
				c.fault("deliveries %q: is %s, and not in that list of its endpoint", key, r.State)
			}
			places++
			return nil
		})
	})
	c.sameCount(bucketDeliveryLists, "entries", places, "deliveries")
	var last []byte
	c.each(bucketDeliveryLists, func(key, _ []byte) {
		number := key[:min(len(key), 8)]
		if bytes.Equal(number, last) {
			return
		}
		if last = number; !c.isEndpoint(number) {
			c.fault("deliveryLists %q: there is no endpoint of that number", number)
		}
	})
	c.each(bucketLastAcknowledged, func(key, ms []byte) {
		if !c.isEndpoint(key) {
			c.fault("lastAcknowledged %q: there is no endpoint of that number", key)
		}
		if len(ms) != 8 {
			c.fault("lastAcknowledged %q: %q is not a time", key, ms)
		}
	})
}

// eventOf checks that a delivery's event exists, where it is looked for and nowhere
// else, and names the delivery.
func (c *checker) eventOf(d *codec.DeliveryRecord) {
	record := c.get(bucketEvents, []byte(d.EventID))
	if len(d.Body) > 0 {
		if record != nil || !isFirst(&d.Delivery) {
			c.fault("deliveries %q: must not hold the event %q", d.ID, d.EventID)
		}
		return
	}
	if record == nil {
		c.fault("deliveries %q: its event %q is missing", d.ID, d.EventID)
		return
	}
	if e, err := rows.Decode(record, codec.Event); err == nil && !slices.Contains(e.Deliveries, d.ID) {
		c.fault("deliveries %q: its event %q does not name it", d.ID, d.EventID)
	}
}
