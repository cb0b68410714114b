package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"teamdata/store"
)

// effects are what a rule did besides its change: the actions that it added to
// acme's audit log, and the events that it sent to endpoint 1.
type effects struct {
	actions []string
	events  []sent
}

// sent is an event as a receiver gets it.
type sent struct {
	Type string
	Data map[string]any
}

// after runs a rule in an Update of its own and returns its effects.
func (s *subject) after(rule func(store.Tx) error) (e effects) {
	s.Helper()
	before := len(actions(s.auditLog(acme)))
	s.update(rule)
	e.actions = actions(s.auditLog(acme))[before:]
	claims, err := s.Claim(context.Background(), 1, s.clock.now(), 1000)
	s.code("claim", err, "")
	for _, c := range claims.Claims {
		e.events = append(e.events, s.sent(c))
	}
	return e
}

// sent reads the body of a delivery, and holds it to what the store knows of
// its event.
func (s *subject) sent(c store.Claim) sent {
	s.Helper()
	var body struct {
		Type, Timestamp string
		Data            map[string]any
	}
	if err := json.Unmarshal(c.Body, &body); err != nil {
		s.Fatalf("body %q: %v", c.Body, err)
	}
	s.view(func(tx store.Tx) error {
		event, err := tx.Event(c.Delivery.EventID)
		s.equal("event's body", string(event.Body), string(c.Body))
		s.equal("event's type", body.Type, event.Type)
		s.equal("event's time", body.Timestamp, store.FormatTime(event.CreatedAt))
		d, errDelivery := tx.Delivery(c.Delivery.ID)
		s.equal("delivery", d, c.Delivery)
		s.equal("delivery's state", fmt.Sprint(d.State, d.Attempts, d.DueAt), fmt.Sprint(store.StatePending, 0, event.CreatedAt))
		return errors.Join(err, errDelivery)
	})
	return sent{body.Type, body.Data}
}

// one is the effect of most rules: an audit entry, and an event.
func one(action string, events ...sent) effects { return effects{[]string{action}, events} }

func testMemberRules(s *subject) {
	s.seed()
	bobs := store.Member{OrgID: acme, ID: "mem_bob", UserID: bob, Role: store.RoleMember}
	data := map[string]any{"orgId": acme, "memberId": "mem_bob", "userId": bob, "role": store.RoleMember}
	s.equal("member added", s.after(func(tx store.Tx) error { return addMember(tx, bobs) }),
		one("member.added", sent{"member.added", data}))
	s.code("added again", s.attempt(func(tx store.Tx) error { return addMember(tx, bobs) }), store.CodeConflict)

	s.equal("role changed", s.after(func(tx store.Tx) error { return changeRole(tx, ada, acme, bob, store.RoleAdmin) }),
		one("member.roleChanged"))
	s.view(func(tx store.Tx) error {
		m, err := tx.Member(acme, bob)
		s.equal("role", m.Role, store.RoleAdmin)
		return err
	})

	data["role"] = store.RoleAdmin
	s.equal("member removed", s.after(func(tx store.Tx) error { return store.RemoveMember(tx, "", acme, bob) }),
		one("member.removed", sent{"member.removed", data}))
	gone := func(tx store.Tx) error { return store.RemoveMember(tx, "", acme, bob) }
	s.code("removed again", s.attempt(gone), store.CodeNotFound)
	s.equal("nothing of the refused", s.after(func(store.Tx) error { return nil }), effects{})
}

func testLastOwner(s *subject) {
	s.seed()
	remove := func(tx store.Tx) error { return store.RemoveMember(tx, ada, acme, ada) }
	demote := func(tx store.Tx) error { return changeRole(tx, ada, acme, ada, store.RoleAdmin) }
	before := s.dump(&everyName)
	s.code("removing the last owner", s.attempt(remove), store.CodeConflict)
	s.code("demoting the last owner", s.attempt(demote), store.CodeConflict)
	s.code("leaving the last owner an owner", s.attempt(func(tx store.Tx) error {
		return errors.Join(changeRole(tx, ada, acme, ada, store.RoleOwner), errFailing)
	}), store.CodeInternal)
	s.same("after it", s.dump(&everyName), before)
	s.update(func(tx store.Tx) error {
		return addMember(tx, store.Member{OrgID: acme, UserID: bob, Role: store.RoleOwner})
	})
	s.update(demote)
	s.code("demoting the owner who is left", s.attempt(func(tx store.Tx) error {
		return changeRole(tx, ada, acme, bob, store.RoleMember)
	}), store.CodeConflict)
	s.update(func(tx store.Tx) error { return store.RemoveMember(tx, ada, acme, ada) })
}

func testOtherRules(s *subject) {
	s.seed()
	s.equal("instructions set", s.after(func(tx store.Tx) error { return store.SetInstructions(tx, ada, acme, "Be brief.", true) }),
		one("assistant.instructionsChanged", sent{"assistant.instructionsChanged", map[string]any{"orgId": acme}}))

	file := map[string]any{"orgId": acme, "fileId": "fil_1", "name": "a.txt", "contentType": "text/plain", "size": 12}
	s.equal("file uploaded", s.after(func(tx store.Tx) error {
		_, err := store.UploadFile(tx, ada, store.File{OrgID: acme, ID: "fil_1", Name: "a.txt", ContentType: "text/plain", Size: 12})
		return err
	}), one("file.uploaded", sent{"file.uploaded", file}))

	s.equal("key made", s.after(func(tx store.Tx) error { return createKey(tx, "key_1") }), effects{})
	s.equal("key revoked", s.after(func(tx store.Tx) error { return store.RevokeKey(tx, ada, acme, "key_1") }), one("apiKey.revoked"))
	s.equal("key revoked again", s.after(func(tx store.Tx) error { return store.RevokeKey(tx, ada, acme, "key_1") }), effects{})
	stranger := func(tx store.Tx) error { return store.RevokeKey(tx, ada, other, "key_1") }
	s.code("key revoked by another org", s.attempt(stranger), store.CodeNotFound)

	change := store.Subscription{ID: "sub_1", Product: "p", Plan: "team", Interval: "year", Status: "trialing"}
	data := map[string]any{"orgId": acme, "subscriptionId": "sub_1", "product": "p", "plan": "team", "interval": "year", "status": "trialing"}
	s.equal("subscription changed", s.after(func(tx store.Tx) error { return changeSubscription(tx, acme, change) }),
		one("subscription.changed", sent{"subscription.changed", data}))
}
