package storetest

import (
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// scopedByHand is what a scope permits of what isn't rows, or is more than rows to an
// engine.
type scopedByHand struct {
	tx store.Tx
	*bounds
}

// in fails unless the scope has what is an owner's.
func (s scopedByHand) in(o rows.Owner) error {
	if s.may(o, false) {
		return nil
	}
	return s.left("what is of %+v", o)
}

func (s scopedByHand) org(id string) error { return s.in(rows.Owner{Org: id}) }

// numbers are those of endpoints, all of which the scope must have.
func (s scopedByHand) endpoints(numbers ...uint64) error {
	for _, n := range numbers {
		if err := s.in(rows.Owner{Number: n}); err != nil {
			return err
		}
	}
	return nil
}

func (s scopedByHand) HTTPOnLoopback() bool { return s.tx.HTTPOnLoopback() }

func (s scopedByHand) ForgetOrg(id string) error {
	return do(s.org(id), func() error { return s.tx.ForgetOrg(id) })
}

func (s scopedByHand) PutEndpoint(e store.Endpoint) error {
	return do(s.org(e.OrgID), func() error { return s.tx.PutEndpoint(e) })
}

func (s scopedByHand) ForgetEndpoint(uint64) error { return s.left("forgetting an endpoint") }

func (s scopedByHand) AddEvent(e store.Event, deliveries []store.Delivery) error {
	return do(s.org(e.OrgID), func() error { return s.tx.AddEvent(e, deliveries) })
}

func (s scopedByHand) Event(id string) (store.Event, error) {
	e, err := s.tx.Event(id)
	if err == nil && !s.may(rows.Owner{Org: e.OrgID}, false) {
		e = store.Event{ID: e.ID, OrgID: e.OrgID}
	}
	return e, err
}

func (s scopedByHand) Delivery(id string) (store.Delivery, error) {
	d, err := s.tx.Delivery(id)
	if err == nil && !s.may(rows.Owner{Org: d.OrgID, Number: d.EndpointNumber}, false) {
		d = store.Delivery{ID: d.ID, OrgID: d.OrgID}
	}
	return d, err
}

func (s scopedByHand) PutDelivery(d store.Delivery) error {
	return do(s.org(d.OrgID), func() error { return s.tx.PutDelivery(d) })
}

func (s scopedByHand) DeleteDelivery(id string) error {
	d, err := s.tx.Delivery(id)
	if err == nil { // or else whoever asks finds out
		err = s.org(d.OrgID)
	}
	return do(err, func() error { return s.tx.DeleteDelivery(id) })
}

func (s scopedByHand) DeliveryPage(endpoint uint64, list store.DeliveryList, after store.Cursor, limit int) (page []store.Delivery, more bool, err error) {
	if err = s.endpoints(endpoint); err == nil {
		page, more, err = s.tx.DeliveryPage(endpoint, list, after, limit)
	}
	return page, more, err
}

func (s scopedByHand) LatestDeliveries(endpoints []uint64, lists []store.DeliveryList, before store.Cursor, limit int) ([]store.Delivery, error) {
	return get(s.endpoints(endpoints...), func() ([]store.Delivery, error) {
		return s.tx.LatestDeliveries(endpoints, lists, before, limit)
	})
}

func (s scopedByHand) CountWaiting(e store.Endpoint, most int) (store.Waiting, error) {
	return get(s.org(e.OrgID), func() (store.Waiting, error) { return s.tx.CountWaiting(e, most) })
}

func (s scopedByHand) FinishedBefore(time.Time, int) ([]string, error) {
	return nil, s.left("the finished deliveries of all")
}

func (s scopedByHand) HeldBefore(time.Time, int) ([]string, error) {
	return nil, s.left("the held deliveries of all")
}

func (s scopedByHand) LastAcknowledged(endpoint uint64) (time.Time, error) {
	return get(s.endpoints(endpoint), func() (time.Time, error) { return s.tx.LastAcknowledged(endpoint) })
}

func (s scopedByHand) PutLastAcknowledged(endpoint uint64, at time.Time) error {
	return do(s.endpoints(endpoint), func() error { return s.tx.PutLastAcknowledged(endpoint, at) })
}

func (s scopedByHand) AddDeliveryCounts(org string, endpoint uint64, at time.Time, c store.DeliveryCounts) error {
	return do(s.org(org), func() error { return s.tx.AddDeliveryCounts(org, endpoint, at, c) })
}

func (s scopedByHand) EachDeliveryCounts(org string, from time.Time, fn func(uint64, time.Time, store.DeliveryCounts)) error {
	return do(s.org(org), func() error { return s.tx.EachDeliveryCounts(org, from, fn) })
}

func (s scopedByHand) DropDeliveryCounts(time.Time, int) (int, error) {
	return 0, s.left("the counts of all")
}

func (s scopedByHand) DropDeliveryCountsOf(org string, limit int) (int, error) {
	return get(s.org(org), func() (int, error) { return s.tx.DropDeliveryCountsOf(org, limit) })
}
