package storetest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"teamdata/store"
)

const day = 24 * time.Hour

func (s *subject) sweep(keep time.Duration) {
	s.Helper()
	s.code("sweeping", store.Sweep(context.Background(), s, keep), "")
}

// testRetention: deliveries go one by one as they get old, the event with the
// last of its own.
func testRetention(s *subject) {
	first := s.seed()
	var second store.Endpoint
	s.update(func(tx store.Tx) (err error) {
		second, err = store.ImportEndpoint(tx, newEndpoint(acme, "whe_2"))
		return err
	})
	s.update(upload)
	a := s.delivery(s.listed(first.Number, store.ListWaiting)[0])
	b := s.delivery(s.listed(second.Number, store.ListWaiting)[0])
	s.equal("of one event", a.EventID, b.EventID)
	s.view(func(tx store.Tx) error {
		event, err := tx.Event(a.EventID)
		s.equal("the event's deliveries", event.Deliveries, []string{a.ID, b.ID})
		return err
	})
	s.try(b.ID, s.clock.now().Add(-time.Second), 200)
	s.clock.move(30 * day)
	s.sweep(30 * day)
	s.equal("there after exactly its time", s.isThere(b.ID), true)
	s.clock.move(time.Millisecond)
	s.sweep(30 * day)
	s.equal("there after more", s.isThere(b.ID), false)
	s.equal("the one that waits is there", s.isThere(a.ID), true)
	s.equal("and its event", s.eventIsThere(a), true)
	s.equal("the list", s.listed(second.Number, store.ListAcknowledged), []string{})
	s.equal("due", s.claim(), []string{a.ID})

	s.attemptMany([]string{a.ID}, 500, nil, func(int) time.Time { return s.clock.now() })
	s.clock.move(5 * day)
	s.sweep(6 * day)
	s.equal("a failed one of five days is there", s.isThere(a.ID), true)
	s.sweep(4 * day)
	s.equal("a failed one of five days is there, when four are kept", s.isThere(a.ID), false)
	s.equal("and its event", s.eventIsThere(a), false)
	s.refused("replaying what was dropped", store.CodeNotFound, replay(a.ID))
}

// testRetentionLeaves: what waits or is held stays however old, and so does what
// was replayed.
func testRetentionLeaves(s *subject) {
	s.seed()
	s.update(func(tx store.Tx) error {
		_, err := store.ImportEndpoint(tx, newEndpoint(acme, "whe_2"))
		return err
	})
	held := s.sendTests("whe_2", 1)[0]
	s.update(switchEndpoint(acme, "whe_2", false))
	ids := s.sendTests("whe_1", 4)
	s.try(ids[0], s.clock.now(), 200)
	s.try(ids[1], s.clock.now(), 200)
	s.try(ids[2], s.clock.now(), 500)
	s.update(replay(ids[1]))
	s.clock.move(1000 * day)
	s.sweep(30 * day)
	s.equal("an acknowledged one is there", s.isThere(ids[0]), false)
	for what, id := range map[string]string{"held": held, "replayed": ids[1], "retrying": ids[2], "pending": ids[3]} {
		s.equal("there, "+what, s.isThere(id), true)
		s.equal("there is the event of the one "+what, s.eventIsThere(s.delivery(id)), true)
	}
	s.equal("due, still in order", s.claim(), []string{ids[1], ids[3], ids[2]})
}

// testRetentionIn1970 is for a clock that has not been set: nothing is old then.
func testRetentionIn1970(s *subject) {
	s.clock.move(-time.Duration(epoch.UnixMilli()) * time.Millisecond)
	s.clock.move(time.Hour)
	s.seed()
	id := s.sendTests("whe_1", 1)[0]
	s.try(id, s.clock.now(), 200)
	s.clock.move(day)
	s.sweep(30 * day)
	s.equal("the delivery is there", s.isThere(id), true)
}

// testRetentionOfOthers: more than a chunk of deliveries, idempotency records
// and mails.
func testRetentionOfOthers(s *subject) {
	endpoint := s.seed()
	start := s.clock.now()
	s.attemptMany(s.sendTests("whe_1", many), 200, nil, func(i int) time.Time { return start.Add(time.Duration(i) * time.Millisecond) })
	s.update(func(tx store.Tx) error {
		for i := range many {
			at := start.Add(time.Duration(i) * time.Millisecond)
			m := store.Mail{ID: fmt.Sprintf("mai_%04d", i), OrgID: acme, CreatedAt: at, DueAt: at}
			r := store.IdempotencyRecord{OrgID: acme, Key: fmt.Sprint(i), FirstUse: at.Add(-time.Duration(i%3) * 6 * time.Hour)}
			if err := tx.PutMail(m); err != nil {
				return err
			}
			if err := tx.AddIdempotencyRecord(r); err != nil {
				return err
			}
		}
		return nil
	})
	s.clock.move(3*day + 1200*time.Millisecond)
	s.sweep(3 * day)
	s.equal("idempotency records left to drop", s.expire(10), 0)
	s.equal("mails left", len(s.mails()), 3)
	s.equal("deliveries left", len(s.listed(endpoint.Number, store.ListAcknowledged)), 1003)
	s.sweep(time.Second)
	s.equal("deliveries left, when none are kept", len(s.listed(endpoint.Number, store.ListAcknowledged)), 0)
}

// testRetentionMeanwhile sweeps while deliveries are made, attempted and
// replayed. What is left is whole.
func testRetentionMeanwhile(s *subject) {
	const writers, updates = 4, 40
	endpoint := s.seed()
	var writing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for i := range updates {
				var d store.Delivery
				s.code("sending", s.Update(context.Background(), func(tx store.Tx) (err error) {
					d, err = store.SendTest(tx, acme, endpoint.ID)
					return err
				}), "")
				s.clock.move(time.Millisecond)
				s.code("attempting", s.Update(context.Background(), func(tx store.Tx) error {
					_, err := attempted(tx, d.ID, tx.Now().Add(-time.Second), 200, nil)
					return err
				}), "")
				if err := s.Update(context.Background(), replay(d.ID)); i%2 == 0 && err != nil && !store.IsNotFound(err) {
					s.Errorf("replaying: %v", err)
				}
			}
		})
	}
	for range 30 {
		s.sweep(5 * time.Millisecond)
	}
	writing.Wait()
	for _, list := range []store.DeliveryList{store.ListAcknowledged, store.ListWaiting} {
		for _, id := range s.listed(endpoint.Number, list) {
			s.equal("the event of a delivery is there", s.eventIsThere(s.delivery(id)), true)
		}
	}
	s.clock.move(time.Hour)
	s.sweep(time.Second)
	s.equal("finished ones in the end", s.listed(endpoint.Number, store.ListAcknowledged), []string{})
}
