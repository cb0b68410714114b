package storetest

import (
	"context"
	"time"

	"teamdata/store"
)

// testRemovedAndMadeAgain: the endpoint that is made again under the id of a
// removed one sees nothing of that one's.
func testRemovedAndMadeAgain(s *subject) {
	old := s.seed()
	ids := s.sendTests("whe_1", 3)
	s.try(ids[0], s.clock.now(), 200)
	s.try(ids[1], s.clock.now(), 500)
	for range 3 {
		s.update(removeEndpoint(acme, "whe_1"))
		s.update(createEndpoint(newEndpoint(acme, "whe_1")))
		e := s.endpoint("whe_1")
		s.equal("its number is another", e.Number != old.Number, true)
		s.goneFor("made again", e.Number, ids...)
		s.goneFor("the old one", old.Number)
		for _, list := range []store.DeliveryList{store.ListAcknowledged, store.ListWaiting, store.ListFailed} {
			s.equal("its lists", s.listed(e.Number, list), []string{})
		}
		s.view(func(tx store.Tx) error {
			at, err := tx.LastAcknowledged(e.Number)
			s.equal("acknowledged last", at, time.Time{})
			return err
		})
		s.equal("recovered", s.recovered(s, epoch), 0)
		ids = append(ids, s.sendTests("whe_1", 1)...)
		s.equal("what is sent to it", s.claimOf(e.Number), ids[len(ids)-1:])
		s.clock.move(time.Hour) // nothing is acknowledged since
		s.equal("the outcome of the old one's disables it", s.failAllOf(ids[2]), false)
		s.equal("it is enabled", s.endpoint("whe_1").DisabledAt, time.Time{})
		s.update(replay(ids[len(ids)-1]))
		old = e
	}
	s.equal("removed", len(s.removed()), 3)
	s.sweep(0)
	s.equal("removed, once swept", s.removed(), []uint64{})
	s.equal("what is left", s.claimOf(old.Number), ids[len(ids)-1:])
}

// failAllOf records a last attempt in vain.
func (s *subject) failAllOf(id string) (disabled bool) {
	s.Helper()
	s.update(func(tx store.Tx) (err error) {
		disabled, err = attempted(tx, id, tx.Now(), 500, nil)
		return err
	})
	return disabled
}

// testRemovedWhileRecovering: what was not recovered by then stays as it is.
func testRemovedWhileRecovering(s *subject) {
	endpoint := s.seed()
	s.attemptMany(s.sendTests("whe_1", many), 500, nil, func(int) time.Time { return s.clock.now() })
	s.clock.move(time.Minute)
	updates := 0
	n, err := store.Recover(context.Background(), interrupted{s, func() {
		if updates++; updates == 1 {
			s.update(removeEndpoint(acme, "whe_1"))
		}
	}}, ada, acme, "whe_1", epoch)
	s.code("recovering", err, store.CodeNotFound)
	failed := len(s.listed(endpoint.Number, store.ListFailed))
	s.equal("recovered by then", []any{n > 0, n < many, n + failed}, []any{true, true, many})
	s.goneFor("removed while recovering", endpoint.Number)
}
