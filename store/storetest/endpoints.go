package storetest

import (
	"strings"

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
