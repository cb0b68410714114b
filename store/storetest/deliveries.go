package storetest

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"teamdata/store"
)

func testEndpoints(s *Subject) {
	full := store.Endpoint{
		ID: longID, OrgID: acme, URL: "https://example.com/" + strings.Repeat("x", 2028), Description: unicode + longText,
		Events: store.BuiltInEventTypes, Secret: "whsec_" + strings.Repeat("A", 88), CreatedAt: firstMs, DisabledAt: lastMs,
	}
	plain := store.Endpoint{ID: "e", OrgID: acme, Events: []string{"x"}, CreatedAt: someTime}
	s.Write(func(tx store.Tx) (err error) {
		if plain, err = tx.AddEndpoint(plain); err != nil {
			return err
		}
		full, err = tx.AddEndpoint(full)
		return err
	})
	if plain.Number == full.Number {
		s.Fatalf("two endpoints have the number %d", full.Number)
	}
	s.findEndpoints(full, plain)
	s.Reopen()
	s.findEndpoints(full, plain)

	plain.DisabledAt, plain.Events = someTime, []string{"y", "z"}
	s.Write(func(tx store.Tx) error { return tx.PutEndpoint(plain) })
	s.findEndpoints(full, plain)
	s.Write(func(tx store.Tx) error {
		later, err := tx.AddEndpoint(store.Endpoint{ID: "l", OrgID: other, Events: []string{"x"}})
		if later.Number == plain.Number || later.Number == full.Number {
			s.Errorf("the number %d was given before", later.Number)
		}
		return err
	})
}

// findEndpoints finds acme's endpoints, in the order of their ids.
func (s *Subject) findEndpoints(want ...store.Endpoint) {
	s.Helper()
	s.Read(func(tx store.Tx) error {
		list, err := tx.Endpoints(acme)
		s.Equal("endpoints", list, want)
		for _, e := range want {
			got, err := tx.Endpoint(acme, e.ID)
			s.Equal("endpoint", got, e)
			s.Code("endpoint", err, "")
		}
		_, notThere := tx.Endpoint(acme, "none")
		s.Code("no endpoint", notThere, store.CodeNotFound)
		return err
	})
}

func testDeliveries(s *Subject) {
	events := []store.Event{
		{ID: "evt_1", OrgID: acme, Type: "t", Deliveries: []string{"whd_1", "whd_3", "whd_4"}},
		{ID: "evt_2", OrgID: longID, Type: unicode, CreatedAt: lastMs, Body: bytes.Repeat([]byte{0, '"', 255}, 30_000), Deliveries: []string{"whd_2"}},
	}
	roundTrip(s, events, func(tx store.Tx, e store.Event) error { return tx.AddEvent(e) },
		func(tx store.Tx, e store.Event) (store.Event, error) { return tx.Event(e.ID) })

	deliveries := []store.Delivery{
		{ID: "whd_1", EventID: "evt_1", EndpointNumber: 1, State: store.StatePending, CreatedAt: firstMs, DueAt: firstMs},
		{ID: "whd_2", EventID: "evt_2", OrgID: longID, EndpointID: longID, EndpointNumber: 1<<64 - 1, State: store.StateRetrying,
			Attempts: 5, CreatedAt: someTime, FirstAttemptAt: someTime.Add(time.Second), DueAt: lastMs},
		{ID: "whd_3", EventID: "evt_1", State: store.StateAcknowledged, Attempts: 1, CreatedAt: someTime, FirstAttemptAt: someTime},
		{ID: "whd_4", EventID: "evt_1", State: store.StateFailed, Attempts: 6, CreatedAt: someTime, FirstAttemptAt: someTime, DueAt: someTime},
	}
	get := func(tx store.Tx, d store.Delivery) (store.Delivery, error) { return tx.Delivery(d.ID) }
	roundTrip(s, deliveries, func(tx store.Tx, d store.Delivery) error { return tx.AddDelivery(d) }, get)

	changed := deliveries[1]
	changed.State, changed.Attempts = store.StateFailed, 6
	s.Write(func(tx store.Tx) error { return tx.PutDelivery(changed) })
	s.Read(func(tx store.Tx) error {
		got, err := get(tx, changed)
		s.Equal("changed delivery", got, changed)
		return err
	})
	err := s.Update(s.Context(), func(tx store.Tx) error { return tx.PutDelivery(store.Delivery{ID: "whd_none"}) })
	s.Code("changing a delivery that is not there", err, store.CodeNotFound)

	s.Write(func(tx store.Tx) error { // since they are of endpoints that there are not
		for _, d := range deliveries {
			if err := tx.DeleteDelivery(d.ID); err != nil {
				return err
			}
		}
		return errors.Join(tx.DeleteEvent("evt_1"), tx.DeleteEvent("evt_2"))
	})
	s.Read(func(tx store.Tx) error {
		_, err := get(tx, changed)
		s.Code("a deleted delivery", err, store.CodeNotFound)
		_, err = tx.Event("evt_1")
		s.Code("a deleted event", err, store.CodeNotFound)
		return nil
	})
}
