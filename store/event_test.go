package store_test

import (
	"strings"
	"testing"

	"teamdata/store"
)

// TestEventsWithoutWebhooks: without the feature an event makes no delivery, and
// those that wait already still go out.
func TestEventsWithoutWebhooks(t *testing.T) { onBoth(t, testEventsWithoutWebhooks) }

func testEventsWithoutWebhooks(s *subject) {
	s.Seed()
	s.Write(upload)
	s.Equal("deliveries", len(s.Claimable()), 1)
	queued := s.Claimable()[0]
	subscribe := func(plan, status string) {
		s.Write(func(tx store.Tx) error {
			return changeSubscription(tx, acme, store.Subscription{Product: "p", Plan: plan, Interval: "i", Status: status})
		})
	}
	for _, without := range [][2]string{{"free", "active"}, {"business", "cancelled"}} {
		subscribe(without[0], without[1])
		waiting := len(s.Claimable())
		s.Write(upload)
		s.Equal("deliveries without the feature", len(s.Claimable()), waiting)
		s.Equal("those that were queued before are still due", s.Claimable()[0], queued)
	}
	subscribe("team", "pastDue") // makes a delivery itself
	waiting := len(s.Claimable())
	s.Write(upload)
	s.Equal("deliveries with the feature again", len(s.Claimable()), waiting+1)
	s.Equal("audit entries", strings.Count(s.AuditLog(acme), `"file.uploaded"`), 4)
}

// TestEventOf: the event of an audit entry is found while it is kept, and no other's is.
func TestEventOf(t *testing.T) { onBoth(t, testEventOf) }

func testEventOf(s *subject) {
	s.Seed()
	s.Write(upload)
	delivery := s.Claimable()[0]
	s.Write(func(tx store.Tx) error {
		page, err := tx.AuditPageBefore(acme, store.Cursor{}, 1, nil)
		if err != nil {
			return err
		}
		entry := store.AuditEntry{OrgID: acme, ID: page.Last.ID, Action: store.EventFileUploaded}
		e, err := store.EventOf(tx, entry)
		s.Equal("its first delivery", store.FirstDelivery(e.ID), delivery)
		if err != nil {
			return err
		}
		for _, other := range []store.AuditEntry{
			{OrgID: acme, ID: entry.ID, Action: store.EventMemberAdded},
			{OrgID: "org_other", ID: entry.ID, Action: entry.Action},
			{OrgID: acme, ID: e.ID, Action: entry.Action},
			{OrgID: acme, ID: "aud_1", Action: entry.Action},
		} {
			if _, err := store.EventOf(tx, other); !store.IsNotFound(err) {
				s.Errorf("%v: %v", other, err)
			}
		}
		return nil
	})
}

func TestOtherRules(t *testing.T) { onBoth(t, testOtherRules) }

func testOtherRules(s *subject) {
	s.Seed()
	s.Equal("instructions set", s.after(func(tx store.Tx) error { return store.SetInstructions(tx, ada, acme, "Be brief.", true) }),
		one("assistant.instructionsChanged", sent{"assistant.instructionsChanged", map[string]any{"orgId": acme}}))

	file := map[string]any{"orgId": acme, "fileId": "fil_1", "name": "a.txt", "contentType": "text/plain", "size": 12}
	s.Equal("file uploaded", s.after(func(tx store.Tx) error {
		_, err := store.UploadFile(tx, ada, store.File{OrgID: acme, ID: "fil_1", Name: "a.txt", ContentType: "text/plain", Size: 12})
		return err
	}), one("file.uploaded", sent{"file.uploaded", file}))

	s.Equal("key made", s.after(func(tx store.Tx) error { return createKey(tx, "key_1") }), effects{})
	s.Equal("key revoked", s.after(func(tx store.Tx) error { return store.RevokeKey(tx, ada, acme, "key_1") }), one("apiKey.revoked"))
	s.Equal("key revoked again", s.after(func(tx store.Tx) error { return store.RevokeKey(tx, ada, acme, "key_1") }), effects{})
	stranger := func(tx store.Tx) error { return store.RevokeKey(tx, ada, other, "key_1") }
	s.Code("key revoked by another org", s.Attempt(stranger), store.CodeNotFound)

	change := store.Subscription{ID: "sub_1", Product: "p", Plan: "team", Interval: "year", Status: "trialing"}
	data := map[string]any{"orgId": acme, "subscriptionId": "sub_1", "product": "p", "plan": "team", "interval": "year", "status": "trialing"}
	s.Equal("subscription changed", s.after(func(tx store.Tx) error { return changeSubscription(tx, acme, change) }),
		one("subscription.changed", sent{"subscription.changed", data}))
}
