package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"teamdata/store"
)

// Rule is a rule of package store, with what it is given, as an API or a page runs
// it: in one Update.
type Rule struct {
	Name string
	Do   func(store.Tx) error
}

// Execute runs the rule under an idempotency key, as a request does: its change,
// audit entry, event, deliveries and answer are one commit.
func (r Rule) Execute(s store.Store) error {
	var idempotent store.Idempotency
	_, _, err := idempotent.Do(context.Background(), s, acme, "one", onePrint, func(tx store.Tx) (store.Answer, error) {
		return store.Answer{Status: 200, Body: []byte(r.Name)}, r.Do(tx)
	})
	return err
}

// Fill writes what Rules work on: the orgs acme and other; in acme owners, a
// member and two endpoints that take every event, of which the second acknowledged
// something, with deliveries of every state at the first; an admin who is told by
// mail; and what fillAccounts does.
func Fill(tx store.Tx) error {
	for _, id := range []string{acme, other} {
		_, err := store.ImportOrg(tx, store.Org{ID: id, Name: id})
		_, errAda := store.ImportMember(tx, store.Member{OrgID: id, UserID: ada, Role: store.RoleOwner, Email: "ada@example.com"})
		if err := errors.Join(err, errAda); err != nil {
			return err
		}
	}
	first, err := store.ImportEndpoint(tx, newEndpoint(acme, "whe_1"))
	_, errSecond := store.ImportEndpoint(tx, newEndpoint(acme, "whe_2"))
	_, errBob := store.ImportMember(tx, store.Member{OrgID: acme, UserID: bob, Role: store.RoleAdmin, Email: "bob@example.com"})
	_, _, errType := store.RegisterEventType(tx, store.EventType{Name: "invoice.sent"})
	return errors.Join(err, errSecond, errBob, errType,
		createKey(tx, "key_1"), addFinished(tx, first, 1), addWaiting(tx, first, 2),
		store.AddPlan(tx, store.Plan{Name: "old"}),
		store.ImportOperatorToken(tx, store.OperatorToken{ID: "opr_1", Name: "ops"}),
		fillAccounts(tx))
}

// addWaiting adds an event and its delivery, which waits.
func addWaiting(tx store.Tx, e store.Endpoint, n int) error {
	return errors.Join(addFinished(tx, e, n), replay(acme, fmt.Sprint("whd_", n))(tx))
}

// Rules are those that the APIs, the settings page and the dispatcher run in one Update, each on what
// Fill wrote.
var Rules = append(accountRules, []Rule{
	{"create an org", createOrg(store.Org{ID: "org_new", Name: "New"})},
	{"rename an org", renameOrg(acme, "Renamed")},
	{"change a subscription", subscribe(acme, store.Subscription{Plan: "team", Status: "trialing"})},
	{"add a plan", func(tx store.Tx) error { return store.AddPlan(tx, store.Plan{Name: "new"}) }},
	{"remove a plan", removePlan("old")},
	{"add a member", func(tx store.Tx) error {
		return addMember(tx, store.Member{OrgID: acme, UserID: "usr_new", Role: store.RoleOwner})
	}},
	{"change a member", func(tx store.Tx) error { return changeRole(tx, ada, acme, bob, store.RoleOwner) }},
	{"remove a member", removeMember(acme, bob)},
	{"append an audit entry", func(tx store.Tx) error { return addAudit(tx, "new") }},
	{"set instructions", setInstructions(acme, "Be brief.", true)},
	{"create a key", newKey(store.APIKey{ID: "key_new", OrgID: acme, Scopes: store.ScopeRead, CreatedBy: bob})},
	{"revoke a key", revokeKey(acme, "key_1")},
	{"create an endpoint", createEndpoint(newEndpoint(acme, "whe_new"))},
	{"change an endpoint", changeEndpoint(acme, "whe_1", store.EndpointChange{Events: []string{"invoice.sent"}})},
	{"disable an endpoint", switchEndpoint(acme, "whe_1", false)},
	{"rotate a secret", rotate(acme, "whe_1", secretOf(1, 32), time.Hour)},
	{"remove an endpoint", removeEndpoint(acme, "whe_1")},
	{"register an event type", register(store.EventType{Name: "invoice.paid"})},
	{"remove an event type", removeType("invoice.sent")},
	{"create an operator token", func(tx store.Tx) error {
		_, _, err := store.CreateOperatorToken(tx, "new", time.Time{})
		return err
	}},
	{"revoke an operator token", func(tx store.Tx) error { return store.RevokeOperatorToken(tx, "opr_1") }},
	{"upload a file", uploadFile(acme, "fil_1")},
	{"send a test", sendTest(acme, "whe_1")},
	{"replay a delivery", replay(acme, "whd_1")},
	{"acknowledge a delivery", attempt("whd_2", 200, nil)},
	{"disable a dead endpoint", func(tx store.Tx) error {
		errAttempt := attempt("whd_2", 500, nil)(tx)
		e, err := tx.Endpoint(acme, "whe_1")
		if !e.Disabled() {
			err = errors.Join(err, store.Errorf(store.CodeConflict, "The endpoint is not disabled."))
		}
		return errors.Join(errAttempt, err)
	}},
}...)

var onePrint = store.FingerprintOf("POST", "/one", "", nil)
