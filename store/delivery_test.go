package store_test

import (
	"testing"
	"time"

	"teamdata/store"
)

func TestSendTest(t *testing.T) { onBoth(t, testSendTest) }

func testSendTest(s *subject) {
	endpoint := s.Seed()
	endpoint.Events = []string{store.EventMemberAdded} // and not webhook.test
	s.Write(func(tx store.Tx) error { return tx.PutEndpoint(endpoint) })
	test := func(org, id string) func(store.Tx) error {
		return func(tx store.Tx) error {
			_, err := store.SendTest(tx, org, id)
			return err
		}
	}
	data := map[string]any{"orgId": acme, "endpointId": endpoint.ID}
	s.Equal("test sent", s.after(test(acme, endpoint.ID)), effects{nil, []sent{{"webhook.test", data}}})

	s.Code("to no endpoint", s.Attempt(test(acme, "whe_none")), store.CodeNotFound)
	s.Code("to another org's endpoint", s.Attempt(test(other, endpoint.ID)), store.CodeNotFound)
	endpoint.DisabledAt = s.Clock.Now()
	s.Write(func(tx store.Tx) error { return tx.PutEndpoint(endpoint) })
	s.Code("to a disabled endpoint", s.Attempt(test(acme, endpoint.ID)), store.CodeConflict)
	endpoint.DisabledAt = time.Time{}
	s.Write(func(tx store.Tx) error { return tx.PutEndpoint(endpoint) })
	s.Equal("nothing of the refused", s.after(func(store.Tx) error { return nil }), effects{})
}
