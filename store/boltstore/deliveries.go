package boltstore

import (
	"bytes"

	"teamdata/store"
)

func (t *tx) Endpoint(orgID, id string) (e store.Endpoint, err error) {
	return e, t.get(bucketEndpoints, orgKey(orgID, id), "webhook endpoint", endpointFields(&e))
}

func (t *tx) Endpoints(orgID string) ([]store.Endpoint, error) {
	var list []store.Endpoint
	prefix := orgKey(orgID, "")
	c := t.bolt.Bucket(bucketEndpoints).Cursor()
	for key, record := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, record = c.Next() {
		var e store.Endpoint
		if err := decode(record, endpointFields(&e)); err != nil {
			return nil, storageFault(err)
		}
		list = append(list, e)
	}
	return list, nil
}

func (t *tx) AddEndpoint(e store.Endpoint) (store.Endpoint, error) {
	b := t.bucket(bucketEndpoints)
	number, err := b.NextSequence()
	if err != nil {
		return store.Endpoint{}, storageFault(err)
	}
	e.Number = number
	if err := t.put(t.bucket(bucketEndpointNumbers), numberKey(number), orgKey(e.OrgID, e.ID)); err != nil {
		return store.Endpoint{}, err
	}
	return e, t.put(b, orgKey(e.OrgID, e.ID), encode(endpointFields(&e)))
}

func (t *tx) PutEndpoint(e store.Endpoint) error {
	if err := t.put(t.bucket(bucketEndpoints), orgKey(e.OrgID, e.ID), encode(endpointFields(&e))); err != nil {
		return err
	}
	if first, ok := t.firstDue(e.Number); ok && !e.Disabled() {
		t.due = append(t.due, first)
	}
	return nil
}

func (t *tx) AddEvent(e store.Event) error {
	return t.insert(t.bucket(bucketEvents), []byte(e.ID), encode(eventFields(&e)))
}

func (t *tx) Event(id string) (e store.Event, err error) {
	return e, t.get(bucketEvents, []byte(id), "event", eventFields(&e))
}

func (t *tx) AddDelivery(d store.Delivery) error {
	if err := t.insert(t.bucket(bucketDeliveries), []byte(d.ID), encode(deliveryFields(&d))); err != nil {
		return err
	}
	return t.addDue(&d)
}

func (t *tx) Delivery(id string) (d store.Delivery, err error) {
	return d, t.get(bucketDeliveries, []byte(id), "delivery", deliveryFields(&d))
}

func (t *tx) PutDelivery(d store.Delivery) error {
	old, err := t.Delivery(d.ID)
	if err != nil {
		return err
	}
	if old.State.Waiting() {
		key := dueKey(old.EndpointNumber, uint64(old.DueAt.UnixMilli()), old.ID)
		if err := t.delete(t.bucket(bucketDue), key); err != nil {
			return err
		}
	}
	if err := t.put(t.bucket(bucketDeliveries), []byte(d.ID), encode(deliveryFields(&d))); err != nil {
		return err
	}
	return t.addDue(&d)
}

// addDue enters a waiting delivery in the due index.
func (t *tx) addDue(d *store.Delivery) error {
	if !d.State.Waiting() {
		return nil
	}
	t.due = append(t.due, dueAt{d.EndpointNumber, d.DueAt})
	return t.insert(t.bucket(bucketDue), dueKey(d.EndpointNumber, uint64(d.DueAt.UnixMilli()), d.ID), []byte{})
}
