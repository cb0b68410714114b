package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"teamdata/store"
)

// testRemovedSwept: the sweep drops all of it, events with their last delivery,
// and nothing else.
func testRemovedSwept(s *subject) {
	first := s.seed()
	s.update(createEndpoint(newEndpoint(acme, "whe_2")))
	second := s.endpoint("whe_2")
	s.update(upload)
	shared := []store.Delivery{s.delivery(s.listed(first.Number, store.ListWaiting)[0]), s.delivery(s.listed(second.Number, store.ListWaiting)[0])}
	var own []store.Delivery
	for i, id := range s.sendTests("whe_2", 3) {
		s.update(func(tx store.Tx) error {
			_, err := attempted(tx, id, tx.Now(), []int{200, 500, 500}[i], store.DefaultRetrySchedule[:i/2])
			return err
		})
		own = append(own, s.delivery(id))
	}
	s.update(removeEndpoint(acme, "whe_2"))
	before := s.entries(acme)
	s.sweep(1000 * day)
	s.equal("removed", s.removed(), []uint64{})
	for i, d := range append(own, shared[1]) {
		s.equal(fmt.Sprint("there is delivery ", i), s.isThere(d.ID), false)
		s.equal(fmt.Sprint("there is the event of delivery ", i), s.eventIsThere(d), i == 3)
	}
	s.equal("the other endpoint's", s.isThere(shared[0].ID), true)
	s.view(func(tx store.Tx) error {
		at, err := tx.LastAcknowledged(second.Number)
		s.equal("acknowledged last", at, time.Time{})
		return err
	})
	s.equal("audit entries", s.entries(acme), before)
	s.changesNothing("nothing is left to sweep", func(tx store.Tx) error { return store.Sweep(s.Context(), direct{tx: tx}, 1000*day) })
	s.update(removeEndpoint(acme, "whe_1"))
	s.sweep(1000 * day)
	s.equal("the event, once both are gone", s.eventIsThere(shared[0]), false)
}

// testRemovedSweptInParts breaks a sweep off after each of its transactions: what
// it did stays, and another goes on.
func testRemovedSweptInParts(s *subject) {
	endpoint := s.seed()
	s.sendTests("whe_1", many)
	s.update(removeEndpoint(acme, "whe_1"))
	for left := many; len(s.removed()) > 0; {
		ctx, cancel := context.WithCancel(context.Background())
		before := left
		err := store.Sweep(ctx, interrupted{s, func() {
			if left = len(s.listed(endpoint.Number, store.ListWaiting)); left < before {
				cancel()
			}
		}}, 0)
		if left > 0 {
			s.equal("the sweep is broken off", errors.Is(err, context.Canceled), true)
			s.equal("a small transaction", before-left <= 500, true)
		}
		s.goneFor("swept in part", endpoint.Number)
		s.reopen()
		cancel()
		if before == left && left > 0 {
			s.Fatalf("the sweep does not go on from %d", left)
		}
	}
	s.equal("left", len(s.listed(endpoint.Number, store.ListWaiting)), 0)
}
