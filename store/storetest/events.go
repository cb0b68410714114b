package storetest

import (
	"context"
	"strings"
	"time"

	"teamdata/store"
)

// upload is a rule that sends an event.
func upload(tx store.Tx) error {
	_, err := store.UploadFile(tx, ada, store.File{OrgID: acme, Name: "a", ContentType: "b"})
	return err
}

// claim claims what is due of endpoint 1, and gives it back.
func (s *subject) claim() (ids []string) {
	s.Helper()
	claims, err := s.Claim(context.Background(), 1, s.clock.now(), 1000)
	s.code("claim", err, "")
	for _, c := range claims.Claims {
		ids = append(ids, c.Delivery.ID)
		s.Release(c.Delivery.ID)
	}
	return ids
}

// testEventsWithoutWebhooks: without the feature an event makes no delivery, and
// those that wait already still go out.
func testEventsWithoutWebhooks(s *subject) {
	s.seed()
	s.update(upload)
	s.equal("deliveries", len(s.claim()), 1)
	queued := s.claim()[0]
	subscribe := func(plan, status string) {
		s.update(func(tx store.Tx) error {
			return changeSubscription(tx, acme, store.Subscription{Product: "p", Plan: plan, Interval: "i", Status: status})
		})
	}
	for _, without := range [][2]string{{"free", "active"}, {"business", "cancelled"}} {
		subscribe(without[0], without[1])
		waiting := len(s.claim())
		s.update(upload)
		s.equal("deliveries without the feature", len(s.claim()), waiting)
		s.equal("those that were queued before are still due", s.claim()[0], queued)
	}
	subscribe("team", "pastDue") // makes a delivery itself
	waiting := len(s.claim())
	s.update(upload)
	s.equal("deliveries with the feature again", len(s.claim()), waiting+1)
	s.equal("audit entries", strings.Count(s.auditLog(acme), `"file.uploaded"`), 4)
}

// testEventsToADisabledEndpoint: they are kept, and go out once it is enabled.
func testEventsToADisabledEndpoint(s *subject) {
	endpoint := s.seed()
	put := func(at time.Time) {
		s.update(func(tx store.Tx) error {
			endpoint.DisabledAt = at
			return tx.PutEndpoint(endpoint)
		})
	}
	s.update(upload)
	held := s.claim()
	put(s.clock.now())
	s.update(upload)
	s.equal("due while disabled", s.claim(), []string{})
	s.equal("each due while disabled", s.eachDue(), map[uint64]time.Time{})
	s.reopen()
	s.equal("due while disabled, reopened", s.claim(), []string{})
	put(time.Time{})
	due := s.claim()
	s.equal("due once enabled", len(due), 2)
	s.equal("the first of them", due[0], held[0])
	s.equal("each due once enabled", s.eachDue(), map[uint64]time.Time{endpoint.Number: s.clock.now()})
}

func testSendTest(s *subject) {
	endpoint := s.seed()
	endpoint.Events = []string{store.EventMemberAdded} // and not webhook.test
	s.update(func(tx store.Tx) error { return tx.PutEndpoint(endpoint) })
	test := func(org, id string) func(store.Tx) error {
		return func(tx store.Tx) error {
			_, err := store.SendTest(tx, org, id)
			return err
		}
	}
	data := map[string]any{"orgId": acme, "endpointId": endpoint.ID}
	s.equal("test sent", s.after(test(acme, endpoint.ID)), effects{nil, []sent{{"webhook.test", data}}})

	s.code("to no endpoint", s.attempt(test(acme, "whe_none")), store.CodeNotFound)
	s.code("to another org's endpoint", s.attempt(test(other, endpoint.ID)), store.CodeNotFound)
	endpoint.DisabledAt = s.clock.now()
	s.update(func(tx store.Tx) error { return tx.PutEndpoint(endpoint) })
	s.code("to a disabled endpoint", s.attempt(test(acme, endpoint.ID)), store.CodeConflict)
	endpoint.DisabledAt = time.Time{}
	s.update(func(tx store.Tx) error { return tx.PutEndpoint(endpoint) })
	s.equal("nothing of the refused", s.after(func(store.Tx) error { return nil }), effects{})
}
