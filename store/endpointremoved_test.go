package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"teamdata/store"
)

// removed are the numbers of the endpoints that are not forgotten.
func (s *subject) Removed() (numbers []uint64) {
	s.Helper()
	s.Read(func(tx store.Tx) (err error) {
		numbers, err = tx.RemovedEndpoints(1000)
		return err
	})
	return numbers
}

// claimOf is what can be claimed at an endpoint, long after all is due.
func (s *subject) claimOf(number uint64) (ids []string) {
	s.Helper()
	claims, err := s.Claim(context.Background(), number, s.Clock.Now().Add(1000*time.Hour), 100)
	s.Code("claim", err, "")
	for _, id := range deliveryIDs(claims) {
		ids = append(ids, id)
		s.Release(id)
	}
	return ids
}

// goneFor holds a delivery to not being found, and an endpoint to having nothing
// that is sent.
func (s *subject) goneFor(what string, number uint64, ids ...string) {
	s.Helper()
	s.Equal("claimed, "+what, s.claimOf(number), []string{})
	_, due := s.Due()[number]
	s.Equal("each due tells of it, "+what, due, false)
	for _, id := range ids {
		s.refused("replaying, "+what, store.CodeNotFound, replay(id))
		s.Read(func(tx store.Tx) error {
			_, _, err := store.FindDelivery(tx, acme, id)
			s.Code("finding a delivery, "+what, err, store.CodeNotFound)
			return nil
		})
	}
}

// TestRemovedEndpoint: nothing is sent there any more, and other endpoints and
// orgs notice nothing.
func TestRemovedEndpoint(t *testing.T) { onBoth(t, testRemovedEndpoint) }

func testRemovedEndpoint(s *subject) {
	first := s.Seed()
	s.Write(createEndpoint(newEndpoint(acme, "whe_2")))
	s.Write(createEndpoint(newEndpoint(other, "whe_1")))
	s.Write(uploadFile("fil_1"))
	number := s.Endpoint("whe_2").Number
	ids := s.Listed(number, store.ListWaiting)
	ids = append(ids, s.sendTests("whe_2", 3)...)
	s.try(ids[1], s.Clock.Now(), 200)
	s.try(ids[2], s.Clock.Now(), 500)
	s.Read(func(tx store.Tx) error {
		d, e, err := store.FindDelivery(tx, acme, ids[0])
		s.Equal("a delivery of an endpoint that is there", []any{d.ID, e.ID}, []any{ids[0], "whe_2"})
		_, _, errOther := store.FindDelivery(tx, other, ids[0])
		s.Code("finding another org's", errOther, store.CodeNotFound)
		return err
	})
	s.refused("removing another org's", store.CodeNotFound, removeEndpoint(other, "whe_2"))
	s.refused("removing none", store.CodeNotFound, removeEndpoint(acme, "whe_none"))
	s.claimAll()
	s.does("an endpoint is removed", removeEndpoint(acme, "whe_2"), effects{actions: []string{"endpoint.removed whe_2"}})
	for range 2 {
		s.goneFor("removed", number, ids...)
		s.Equal("removed", s.Removed(), []uint64{number})
		s.Equal("its deliveries are there until the sweep", len(s.Listed(number, store.ListWaiting)), 3)
		s.Reopen()
	}
	s.Equal("the other endpoint's", len(s.claimOf(first.Number)), 1)
	for what, rule := range map[string]func(store.Tx) error{
		"removing": removeEndpoint(acme, "whe_2"), "enabling": switchEndpoint(acme, "whe_2", true), "disabling": switchEndpoint(acme, "whe_2", false),
		"changing": changeEndpoint(acme, "whe_2", store.EndpointChange{}),
		"a test":   func(tx store.Tx) error { return second(store.SendTest(tx, acme, "whe_2")) },
		"rotating": func(tx store.Tx) error { return second(store.RotateSecret(tx, ada, acme, "whe_2", "", 0)) },
	} {
		s.refused(what+", once it is removed", store.CodeNotFound, rule)
	}
	s.claimAll()
	s.does("an event", uploadFile("fil_2"), one("file.uploaded fil_2", fileSent("fil_2")))
}

// fileSent is the event of uploadFile.
func fileSent(id string) sent {
	return sent{"file.uploaded", map[string]any{"orgId": acme, "fileId": id, "name": "a", "contentType": "b", "size": 0}}
}

// TestRemovedInFlight: what was in hand when its endpoint was removed comes to
// its end, and that does no harm, whether the sweep was there before or not.
func TestRemovedInFlight(t *testing.T) { onBoth(t, testRemovedInFlight) }

func testRemovedInFlight(s *subject) {
	number := s.Seed().Number
	ids := s.sendTests("whe_1", 4)
	claims, err := s.Claim(context.Background(), number, s.Clock.Now(), 3)
	s.Code("claim", err, "")
	s.Equal("in hand", len(claims.Claims), 3)
	s.Write(removeEndpoint(acme, "whe_1"))
	log := s.entries(acme)
	for i, status := range []int{200, 500} {
		s.Equal("disabled by an outcome", s.try(ids[i], s.Clock.Now(), status), false)
	}
	s.Clock.Move(time.Hour)
	s.Equal("disabled by the last of attempts", s.failAllOf(ids[3]), false)
	s.Equal("audit entries of outcomes", s.entries(acme), log)
	s.Equal("mails", len(s.Mails()), 0)
	s.goneFor("with outcomes", number, ids...)
	s.sweep(day)
	s.refused("an outcome after the sweep", store.CodeNotFound, func(tx store.Tx) error {
		return second(attempted(tx, ids[2], tx.Now(), 200, nil))
	})
	for _, id := range ids[:3] {
		s.Release(id)
	}
	s.Equal("removed", s.Removed(), []uint64{})
	s.goneFor("swept", number, ids...)
}

// TestRemovedAndMadeAgain: the endpoint that is made again under the id of a
// removed one sees nothing of that one's.
func TestRemovedAndMadeAgain(t *testing.T) { onBoth(t, testRemovedAndMadeAgain) }

func testRemovedAndMadeAgain(s *subject) {
	old := s.Seed()
	ids := s.sendTests("whe_1", 3)
	s.try(ids[0], s.Clock.Now(), 200)
	s.try(ids[1], s.Clock.Now(), 500)
	for range 3 {
		s.Write(removeEndpoint(acme, "whe_1"))
		s.Write(createEndpoint(newEndpoint(acme, "whe_1")))
		e := s.Endpoint("whe_1")
		s.Equal("its number is another", e.Number != old.Number, true)
		s.goneFor("made again", e.Number, ids...)
		s.goneFor("the old one", old.Number)
		for _, list := range []store.DeliveryList{store.ListAcknowledged, store.ListWaiting, store.ListFailed} {
			s.Equal("its lists", s.Listed(e.Number, list), []string{})
		}
		s.Read(func(tx store.Tx) error {
			at, err := tx.LastAcknowledged(e.Number)
			s.Equal("acknowledged last", at, time.Time{})
			return err
		})
		s.Equal("replayed", s.replaySince(s, epoch), 0)
		ids = append(ids, s.sendTests("whe_1", 1)...)
		s.Equal("what is sent to it", s.claimOf(e.Number), ids[len(ids)-1:])
		s.Clock.Move(time.Hour) // nothing is acknowledged since
		s.Equal("the outcome of the old one's disables it", s.failAllOf(ids[2]), false)
		s.Equal("it is enabled", s.Endpoint("whe_1").DisabledAt, time.Time{})
		s.Write(replay(ids[len(ids)-1]))
		old = e
	}
	s.Equal("removed", len(s.Removed()), 3)
	s.sweep(0)
	s.Equal("removed, once swept", s.Removed(), []uint64{})
	s.Equal("what is left", s.claimOf(old.Number), ids[len(ids)-1:])
}

// failAllOf records a last attempt, which fails.
func (s *subject) failAllOf(id string) (disabled bool) {
	s.Helper()
	s.Write(func(tx store.Tx) (err error) {
		disabled, err = attempted(tx, id, tx.Now(), 500, nil)
		return err
	})
	return disabled
}

// TestRemovedWhileReplaying: what was not replayed by then stays as it is, also when
// another endpoint is made under that id.
func TestRemovedWhileReplaying(t *testing.T) {
	for _, namesake := range []bool{false, true} {
		onBoth(t, func(s *subject) { testRemovedWhileReplaying(s, namesake) })
	}
}

func testRemovedWhileReplaying(s *subject, namesake bool) {
	endpoint := s.Seed()
	s.attemptMany(s.sendTests("whe_1", many), 500, nil, func(int) time.Time { return s.Clock.Now() })
	s.Clock.Move(time.Minute)
	updates := 0
	n := s.replaySince(interrupted{s, func() {
		if updates++; updates == 1 {
			s.Write(removeEndpoint(acme, "whe_1"))
			if namesake {
				s.Write(createEndpoint(newEndpoint(acme, "whe_1")))
			}
		}
	}}, epoch)
	failed := len(s.Listed(endpoint.Number, store.ListFailed))
	s.Equal("replayed by then", []any{n > 0, n < many, n + failed}, []any{true, true, many})
	s.goneFor("removed while replaying", endpoint.Number)
}

// TestRemovedSwept: the sweep drops all of it, events with their last delivery,
// and nothing else.
func TestRemovedSwept(t *testing.T) { onBoth(t, testRemovedSwept) }

func testRemovedSwept(s *subject) {
	first := s.Seed()
	s.Write(createEndpoint(newEndpoint(acme, "whe_2")))
	second := s.Endpoint("whe_2")
	s.Write(upload)
	shared := []store.Delivery{s.delivery(s.Listed(first.Number, store.ListWaiting)[0]), s.delivery(s.Listed(second.Number, store.ListWaiting)[0])}
	var own []store.Delivery
	for i, id := range s.sendTests("whe_2", 3) {
		s.Write(func(tx store.Tx) error {
			_, err := attempted(tx, id, tx.Now(), []int{200, 500, 500}[i], store.DefaultRetrySchedule[:i/2])
			return err
		})
		own = append(own, s.delivery(id))
	}
	s.Write(removeEndpoint(acme, "whe_2"))
	before := s.entries(acme)
	s.sweep(1000 * day)
	s.Equal("removed", s.Removed(), []uint64{})
	for i, d := range append(own, shared[1]) {
		s.Equal(fmt.Sprint("there is delivery ", i), s.isThere(d.ID), false)
		s.Equal(fmt.Sprint("there is the event of delivery ", i), s.eventIsThere(d), i == 3)
	}
	s.Equal("the other endpoint's", s.isThere(shared[0].ID), true)
	s.Read(func(tx store.Tx) error {
		at, err := tx.LastAcknowledged(second.Number)
		s.Equal("acknowledged last", at, time.Time{})
		return err
	})
	s.Equal("audit entries", s.entries(acme), before)
	s.changesNothing("nothing is left to sweep", func(tx store.Tx) error {
		return store.Sweep(s.Context(), direct{tx: tx}, store.Retention{Finished: 1000 * day, Held: 1000 * day})
	})
	s.Write(removeEndpoint(acme, "whe_1"))
	s.sweep(1000 * day)
	s.Equal("the event, once both are gone", s.eventIsThere(shared[0]), false)
}

// TestRemovedSweptInParts breaks a sweep off after each of its transactions: what
// it did stays, and another goes on.
func TestRemovedSweptInParts(t *testing.T) { onBoth(t, testRemovedSweptInParts) }

func testRemovedSweptInParts(s *subject) {
	endpoint := s.Seed()
	s.sendTests("whe_1", many)
	s.Write(removeEndpoint(acme, "whe_1"))
	for left := many; len(s.Removed()) > 0; {
		ctx, cancel := context.WithCancel(context.Background())
		before := left
		err := store.Sweep(ctx, interrupted{s, func() {
			if left = len(s.Listed(endpoint.Number, store.ListWaiting)); left < before {
				cancel()
			}
		}}, store.Retention{})
		if left > 0 {
			s.Equal("the sweep is broken off", errors.Is(err, context.Canceled), true)
			s.Equal("a small transaction", before-left <= 50, true)
		}
		s.goneFor("swept in part", endpoint.Number)
		s.Reopen()
		cancel()
		if before == left && left > 0 {
			s.Fatalf("the sweep does not go on from %d", left)
		}
	}
	s.Equal("left", len(s.Listed(endpoint.Number, store.ListWaiting)), 0)
}
