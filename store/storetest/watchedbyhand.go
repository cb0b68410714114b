package storetest

import (
	"time"

	"teamdata/store"
)

// watchedByHand are the methods of what isn't rows, or is more than rows to an engine.
type watchedByHand struct {
	byHand
	tx store.Tx
	watcher
}

// byHand is what isn't rows.
type byHand interface {
	store.Deliveries
	store.DeliveryCountsTx
	HTTPOnLoopback() bool
}

func (w watchedByHand) ForgetOrg(id string) error          { return w.then(w.tx.ForgetOrg(id)) }
func (w watchedByHand) PutEndpoint(e store.Endpoint) error { return w.then(w.tx.PutEndpoint(e)) }
func (w watchedByHand) ForgetEndpoint(number uint64) error {
	return w.then(w.tx.ForgetEndpoint(number))
}
func (w watchedByHand) PutDelivery(d store.Delivery) error { return w.then(w.tx.PutDelivery(d)) }
func (w watchedByHand) DeleteDelivery(id string) error     { return w.then(w.tx.DeleteDelivery(id)) }

func (w watchedByHand) AddEvent(e store.Event, deliveries []store.Delivery) error {
	return w.then(w.tx.AddEvent(e, deliveries))
}

func (w watchedByHand) PutLastAcknowledged(endpoint uint64, at time.Time) error {
	return w.then(w.tx.PutLastAcknowledged(endpoint, at))
}

func (w watchedByHand) AddDeliveryCounts(org string, endpoint uint64, at time.Time, c store.DeliveryCounts) error {
	return w.then(w.tx.AddDeliveryCounts(org, endpoint, at, c))
}

func (w watchedByHand) DropDeliveryCounts(before time.Time, limit int) (int, error) {
	n, err := w.tx.DropDeliveryCounts(before, limit)
	return n, w.then(err)
}

func (w watchedByHand) DropDeliveryCountsOf(org string, limit int) (int, error) {
	n, err := w.tx.DropDeliveryCountsOf(org, limit)
	return n, w.then(err)
}
