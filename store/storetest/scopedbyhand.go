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

func (s scopedByHand) HTTPOnLoopback() bool { return s.tx.HTTPOnLoopback() }

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
