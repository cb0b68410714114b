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
	store.DeliveryCountsTx
	HTTPOnLoopback() bool
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
