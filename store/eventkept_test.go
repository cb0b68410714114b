package store_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

// TestEvents: whatever an event's length and however many deliveries it has, it is
// as it was added until the last of them is deleted.
func TestEvents(t *testing.T) { onBoth(t, testEvents) }

func testEvents(s *subject) {
	endpoint := s.Seed()
	plain := func(*store.Event) {}
	for _, length := range []int{0, 1, store.MaxKeptAnswer, store.MaxKeptAnswer + 1, 100_000} {
		for n := range 3 {
			s.holdsEvent(fmt.Sprintf("event of %d bytes with %d deliveries", length, n+1), endpoint, length, n+1, plain)
		}
	}
	for what, change := range map[string]func(*store.Event){
		"org":                func(e *store.Event) { e.OrgID = other },
		"type":               func(e *store.Event) { e.Type = "another" },
		"time":               func(e *store.Event) { e.CreatedAt = someTime },
		"id":                 func(e *store.Event) { e.ID = "evt_another" },
		"delivery":           func(e *store.Event) { e.Deliveries = append(e.Deliveries, "whd_gone") },
		"id without prefix":  func(e *store.Event) { e.ID = e.ID[len(store.PrefixEvent):] },
		"id of another form": func(e *store.Event) { e.ID = "x" + e.ID },
	} {
		s.holdsEvent("event with another "+what+" than its delivery", endpoint, 10, 1, change)
	}
}

// holdsEvent adds an event, changed before that, with some deliveries, attempts
// them, and deletes them one by one.
func (s *subject) holdsEvent(what string, endpoint store.Endpoint, length, n int, change func(*store.Event)) {
	s.Helper()
	var e store.Event
	var left []store.Delivery
	s.Write(func(tx store.Tx) error {
		e, left = makeEvent(tx, endpoint, length, n)
		change(&e)
		for i := range left {
			left[i].EventID = e.ID
		}
		return tx.AddEvent(e, left)
	})
	s.holdsAll(what, e, left)
	claims, err := s.Claim(context.Background(), endpoint.Number, s.Clock.Now(), 10)
	s.Code(what+": claim", err, "")
	s.Equal(what+": claims", len(claims.Claims), n)
	for i, c := range claims.Claims {
		s.Equal(what+": claimed", c, store.Claim{Delivery: left[i], Body: e.Body})
		s.try(c.Delivery.ID, s.Clock.Now(), 500)
		s.Release(c.Delivery.ID)
	}
	s.Read(func(tx store.Tx) (err error) {
		for i := range left {
			if left[i], err = tx.Delivery(left[i].ID); err != nil || left[i].State != store.StateRetrying {
				s.Errorf("%s: after an attempt there is %+v, %v", what, left[i], err)
			}
		}
		return err
	})
	s.Reopen()
	for ; len(left) > 0; left = left[1:] {
		s.holdsAll(what, e, left)
		s.Write(func(tx store.Tx) error { return tx.DeleteDelivery(left[0].ID) })
	}
	s.Read(func(tx store.Tx) error {
		_, err := tx.Event(e.ID)
		s.Code(what+": without a delivery", err, store.CodeNotFound)
		return nil
	})
}

// makeEvent makes an event of some length and its deliveries, which are due.
func makeEvent(tx store.Tx, endpoint store.Endpoint, length, n int) (e store.Event, deliveries []store.Delivery) {
	e = store.Event{ID: tx.NewID(store.PrefixEvent), OrgID: acme, Type: "t", CreatedAt: tx.Now(), Body: bytes.Repeat([]byte{'x'}, length)}
	for i := range n {
		id := store.FirstDelivery(e.ID)
		if i > 0 {
			id = tx.NewID(store.PrefixDelivery)
		}
		e.Deliveries = append(e.Deliveries, id)
		deliveries = append(deliveries, store.Delivery{
			ID: id, OrgID: acme, EndpointID: endpoint.ID, EndpointNumber: endpoint.Number, EventType: "t",
			State: store.StatePending, CreatedAt: tx.Now(), DueAt: tx.Now().Add(-time.Second),
		})
	}
	return e, deliveries
}

// holdsAll finds an event and its deliveries as they were written.
func (s *subject) holdsAll(what string, e store.Event, deliveries []store.Delivery) {
	s.Helper()
	s.Read(func(tx store.Tx) error {
		got, err := tx.Event(e.ID)
		s.Code(what, err, "")
		s.Equal(what, got, e)
		if bare := strings.TrimPrefix(e.ID, store.PrefixEvent); bare != e.ID {
			_, err := tx.Event(bare)
			s.Code(what+": under its id without the prefix", err, store.CodeNotFound)
		}
		for _, d := range deliveries {
			got, err := tx.Delivery(d.ID)
			s.Code(what+": delivery", err, "")
			s.Equal(what+": delivery", got, d)
		}
		return nil
	})
}
