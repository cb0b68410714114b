package store_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"teamdata/store"
)

// TestRetention: deliveries go one by one as they get old, the event with the
// last of its own.
func TestRetention(t *testing.T) { onBoth(t, testRetention) }

func testRetention(s *subject) {
	first := s.Seed()
	var second store.Endpoint
	s.Write(func(tx store.Tx) (err error) {
		second, err = store.ImportEndpoint(tx, newEndpoint(acme, "whe_2"))
		return err
	})
	s.Write(upload)
	a := s.delivery(s.Listed(first.Number, store.ListWaiting)[0])
	b := s.delivery(s.Listed(second.Number, store.ListWaiting)[0])
	s.Equal("of one event", a.EventID, b.EventID)
	s.Read(func(tx store.Tx) error {
		event, err := tx.Event(a.EventID)
		s.Equal("the event's deliveries", event.Deliveries, []string{a.ID, b.ID})
		return err
	})
	s.try(b.ID, s.Clock.Now().Add(-time.Second), 200)
	s.Clock.Move(30 * day)
	s.sweep(30 * day)
	s.Equal("there after exactly its time", s.isThere(b.ID), true)
	s.Clock.Move(time.Millisecond)
	s.sweep(30 * day)
	s.Equal("there after more", s.isThere(b.ID), false)
	s.Equal("the one that waits is there", s.isThere(a.ID), true)
	s.Equal("and its event", s.eventIsThere(a), true)
	s.Equal("the list", s.Listed(second.Number, store.ListAcknowledged), []string{})
	s.Equal("due", s.Claimable(), []string{a.ID})

	s.attemptMany([]string{a.ID}, 500, nil, func(int) time.Time { return s.Clock.Now() })
	s.Clock.Move(5 * day)
	s.sweep(6 * day)
	s.Equal("a failed one of five days is there", s.isThere(a.ID), true)
	s.sweep(4 * day)
	s.Equal("a failed one of five days is there, when four are kept", s.isThere(a.ID), false)
	s.Equal("and its event", s.eventIsThere(a), false)
	s.refused("replaying what was dropped", store.CodeNotFound, replay(a.ID))
}

// TestRetentionLeaves: what waits stays however old, and so does what was replayed.
func TestRetentionLeaves(t *testing.T) { onBoth(t, testRetentionLeaves) }

func testRetentionLeaves(s *subject) {
	s.Seed()
	ids := s.sendTests("whe_1", 4)
	s.try(ids[0], s.Clock.Now(), 200)
	s.try(ids[1], s.Clock.Now(), 200)
	s.try(ids[2], s.Clock.Now(), 500)
	s.Write(replay(ids[1]))
	s.Clock.Move(1000 * day)
	s.sweep(30 * day)
	s.Equal("an acknowledged one is there", s.isThere(ids[0]), false)
	for what, id := range map[string]string{"replayed": ids[1], "retrying": ids[2], "pending": ids[3]} {
		s.Equal("there, "+what, s.isThere(id), true)
		s.Equal("there is the event of the one "+what, s.eventIsThere(s.delivery(id)), true)
	}
	s.Equal("due, still in order", s.Claimable(), []string{ids[1], ids[3], ids[2]})
}

// TestRetentionOfHeld: a delivery is held for its time, from when the endpoint was
// disabled, or from when it was due after that, and is then dropped with its event.
func TestRetentionOfHeld(t *testing.T) { onBoth(t, testRetentionOfHeld) }

func testRetentionOfHeld(s *subject) {
	endpoint := s.Seed()
	s.sendTests("whe_1", many)
	first := s.delivery(s.Listed(endpoint.Number, store.ListWaiting)[0])
	s.Clock.Move(100 * day)
	s.sweepHeld(90 * day)
	s.Equal("there, however old, at an enabled endpoint", len(s.Listed(endpoint.Number, store.ListWaiting)), many)
	s.Write(switchEndpoint(acme, "whe_1", false))
	s.Clock.Move(10 * day)
	s.Write(upload)
	later := s.Listed(endpoint.Number, store.ListWaiting)[many]
	s.Clock.Move(80 * day)
	s.sweepHeld(90 * day)
	s.Equal("there when it was held for exactly its time", len(s.Listed(endpoint.Number, store.ListWaiting)), many+1)
	s.Clock.Move(time.Millisecond)
	s.sweepHeld(90 * day)
	s.Equal("left after more", s.Listed(endpoint.Number, store.ListWaiting), []string{later})
	s.Equal("the event of the first is there", s.eventIsThere(first), false)
	s.Equal("the event of the one that is left is there", s.eventIsThere(s.delivery(later)), true)
	s.refused("replaying what was dropped", store.CodeNotFound, replay(first.ID))
	s.Clock.Move(10 * day)
	s.Write(switchEndpoint(acme, "whe_1", true))
	s.sweepHeld(90 * day)
	s.Equal("due, once it is enabled", s.Claimable(), []string{later})
	s.Write(switchEndpoint(acme, "whe_1", false))
	s.Clock.Move(90 * day)
	s.sweepHeld(90 * day)
	s.Equal("there, held anew", s.isThere(later), true)
}

// TestRetentionOfHeldMeanwhile enables an endpoint while a sweep drops what it held:
// what is left is sent, or held for all of its time if the endpoint is disabled again.
func TestRetentionOfHeldMeanwhile(t *testing.T) {
	for _, anew := range []bool{false, true} {
		onBoth(t, func(s *subject) { testRetentionOfHeldMeanwhile(s, anew) })
	}
}

func testRetentionOfHeldMeanwhile(s *subject, anew bool) {
	const held = 200 // are several steps
	endpoint := s.Seed()
	s.sendTests("whe_1", held)
	s.Write(switchEndpoint(acme, "whe_1", false))
	s.Clock.Move(100 * day)
	enabled := false
	s.Code("sweeping", store.Sweep(context.Background(), interrupted{s, func() {
		if !enabled && len(s.Listed(endpoint.Number, store.ListWaiting)) < held {
			enabled = true
			s.Write(switchEndpoint(acme, "whe_1", true))
			if anew {
				s.Write(switchEndpoint(acme, "whe_1", false))
				s.Clock.Move(90 * day)
			}
		}
	}}, store.Retention{Finished: 1000 * day, Held: 90 * day}), "")
	s.Write(switchEndpoint(acme, "whe_1", true))
	left := s.Listed(endpoint.Number, store.ListWaiting)
	s.Equal("some are dropped, and some are left", []bool{enabled, len(left) > 0, len(left) < held}, []bool{true, true, true})
	s.Equal("due", s.Claimable(), left)
}

// TestRetentionOfReplayedMeanwhile replays deliveries while a sweep drops such: they
// are kept, and so is one that is acknowledged again, for all of its time.
func TestRetentionOfReplayedMeanwhile(t *testing.T) { onBoth(t, testRetentionOfReplayedMeanwhile) }

func testRetentionOfReplayedMeanwhile(s *subject) {
	endpoint := s.Seed()
	ids := s.sendTests("whe_1", 200)
	s.attemptMany(ids, 200, nil, func(int) time.Time { return s.Clock.Now() })
	s.Clock.Move(40 * day)
	var replayed, again []string
	s.Code("sweeping", store.Sweep(context.Background(), interrupted{s, func() {
		if left := s.Listed(endpoint.Number, store.ListAcknowledged); replayed == nil && len(left) < len(ids) {
			replayed, again = []string{left[0], left[len(left)-1]}, left[1:2]
			for _, id := range slices.Concat(again, replayed) {
				s.Write(replay(id))
			}
			s.try(again[0], s.Clock.Now().Add(-time.Second), 200)
			s.Clock.Move(30 * day)
		}
	}}, store.Retention{Finished: 30 * day, Held: 90 * day}), "")
	slices.Sort(replayed)
	s.Equal("left, finished anew for exactly its time", s.Listed(endpoint.Number, store.ListAcknowledged), again)
	s.Equal("due", s.Claimable(), replayed)
	s.Equal("replayed", len(replayed), 2)
}

// TestRetentionIn1970 is for a clock that has not been set: nothing is old then.
func TestRetentionIn1970(t *testing.T) { onBoth(t, testRetentionIn1970) }

func testRetentionIn1970(s *subject) {
	s.Clock.Move(-time.Duration(epoch.UnixMilli()) * time.Millisecond)
	s.Clock.Move(time.Hour)
	s.Seed()
	id := s.sendTests("whe_1", 1)[0]
	s.try(id, s.Clock.Now(), 200)
	s.Clock.Move(day)
	s.sweep(30 * day)
	s.Equal("the delivery is there", s.isThere(id), true)
}

// TestRetentionOfOthers: more than a chunk of deliveries, idempotency records
// and mails.
func TestRetentionOfOthers(t *testing.T) { onBoth(t, testRetentionOfOthers) }

func testRetentionOfOthers(s *subject) {
	endpoint := s.Seed()
	start := s.Clock.Now()
	s.attemptMany(s.sendTests("whe_1", many), 200, nil, func(i int) time.Time { return start.Add(time.Duration(i) * time.Millisecond) })
	s.Write(func(tx store.Tx) error {
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
	s.Clock.Move(3*day + 1200*time.Millisecond)
	s.sweep(3 * day)
	s.Equal("idempotency records left to drop", s.expire(10), 0)
	s.Equal("mails left", len(s.Mails()), 3)
	s.Equal("deliveries left", len(s.Listed(endpoint.Number, store.ListAcknowledged)), 1003)
	s.sweep(time.Second)
	s.Equal("deliveries left, when none are kept", len(s.Listed(endpoint.Number, store.ListAcknowledged)), 0)
}

// TestRetentionMeanwhile sweeps while deliveries are made, attempted and
// replayed. What is left is whole.
func TestRetentionMeanwhile(t *testing.T) { onBoth(t, testRetentionMeanwhile) }

func testRetentionMeanwhile(s *subject) {
	const writers, updates = 4, 40
	endpoint := s.Seed()
	var writing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for i := range updates {
				var d store.Delivery
				s.Code("sending", s.Update(context.Background(), store.All, func(tx store.Tx) (err error) {
					d, err = store.SendTest(tx, acme, endpoint.ID)
					return err
				}), "")
				s.Clock.Move(time.Millisecond)
				s.Code("attempting", s.Update(context.Background(), store.All, func(tx store.Tx) error {
					_, err := attempted(tx, d.ID, tx.Now().Add(-time.Second), 200, nil)
					return err
				}), "")
				if err := s.Update(context.Background(), store.All, replay(d.ID)); i%2 == 0 && err != nil && !store.IsNotFound(err) {
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
		for _, id := range s.Listed(endpoint.Number, list) {
			s.Equal("the event of a delivery is there", s.eventIsThere(s.delivery(id)), true)
		}
	}
	s.Clock.Move(time.Hour)
	s.sweep(time.Second)
	s.Equal("finished ones in the end", s.Listed(endpoint.Number, store.ListAcknowledged), []string{})
}
