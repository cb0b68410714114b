package storetest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
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
	_, _, err := idempotent.Do(context.Background(), s, r.scope(), store.IdempotencyKey{OrgID: acme, Key: "one"}, onePrint, func(tx store.Tx) (store.Answer, error) {
		return store.Answer{Status: 200, Body: []byte(r.Name)}, r.Do(tx)
	})
	return err
}

// wide are the rules that need all: they write what is server-wide, or look for whose
// account has an address.
var wide = []string{
	"add a plan", "remove a plan", "register an event type", "import an event type", "remove an event type",
	"create an operator token", "revoke an operator token", "mail the operator", "signal a certificate",
	"create a sign-in link", "mail a sign-in link", "make the link of a mail",
	"invite a person", "show the link of an invitation",
}

// scope has what rules work on, as far as it is of orgs and users.
func (r Rule) scope() store.Scope {
	if slices.Contains(wide, r.Name) {
		return store.All
	}
	scope := store.Scope{Orgs: []string{acme, other, "org_new"}, Users: []string{ada, bob, eve, "usr_new", guest}, Deliveries: []string{"whd_1", "whd_2", leasedID}}
	for i := range 5 {
		scope.Users = append(scope.Users, fmt.Sprint("usr_batch_", i))
	}
	return scope
}

// Fill writes what Rules work on: the orgs acme and other; in acme owners, a
// member and two endpoints that take every event, of which the second acknowledged
// something, with deliveries of every state at the first; an admin who is told by
// mail; and what fillPulls and fillAccounts do.
func Fill(tx store.Tx) error {
	first, err := seed(tx, "ada@example.com")
	_, errSecond := store.ImportEndpoint(tx, newEndpoint(acme, "whe_2"))
	_, errBob := store.ImportMember(tx, store.Member{OrgID: acme, UserID: bob, Role: store.RoleAdmin, Email: "bob@example.com"})
	_, _, errType := store.RegisterEventType(tx, store.EventType{Name: "invoice.sent"})
	return errors.Join(err, errSecond, errBob, errType,
		createKey(tx, "key_1"), fillPulls(tx), addFinished(tx, first, 1), addWaiting(tx, first, 2),
		store.AddPlan(tx, store.Plan{Name: "old"}),
		store.ImportOperatorToken(tx, store.OperatorToken{ID: "opr_1", Name: "ops"}),
		tx.PutReplayJob(store.ReplayJob{ID: "rpl_1", OrgID: acme, State: store.ReplayRunning, CreatedAt: tx.Now()}),
		fillAccounts(tx))
}

// addWaiting adds an event and its delivery, which waits.
func addWaiting(tx store.Tx, e store.Endpoint, n int) error {
	return errors.Join(addFinished(tx, e, n), replay(acme, fmt.Sprint("whd_", n))(tx))
}

// reserveAttempts gives an endpoint a rate, and reserves attempts.
func reserveAttempts(org, id string) rule {
	return func(tx store.Tx) error {
		e, err := tx.Endpoint(org, id)
		if err != nil {
			return err
		}
		e.Sending.Rate = "10/s"
		return errors.Join(tx.PutEndpoint(e), second(store.ReserveAttempts(tx, &e, tx.Now(), store.Grant{}, nil)), second(store.WaitsForRate(tx, &e, tx.Now())))
	}
}

// Rules are those that the APIs, the settings page and the dispatcher run in one Update, each on what
// Fill wrote. The last one deletes the org that the others work on.
var Rules = append(accountRules, []Rule{
	{"create an org", createOrg(store.Org{ID: "org_new", Name: "New"})},
	{"rename an org", renameOrg(acme, "Renamed")},
	{"change a subscription", subscribe(acme, store.Subscription{Plan: "team", Status: "trialing"})},
	{"add a plan", func(tx store.Tx) error { return store.AddPlan(tx, store.Plan{Name: "new"}) }},
	{"remove a plan", removePlan("old")},
	{"add a member", addMember(store.Member{OrgID: acme, UserID: "usr_new", Role: store.RoleOwner})},
	{"change a member", changeRole(ada, acme, bob, store.RoleOwner)},
	{"put a member who is none", putMemberOf(acme, "usr_new", store.RoleAdmin)},
	{"put a member", putMemberOf(acme, bob, store.RoleMember)},
	{"put a batch of members", putMembers(acme, ada, store.RoleAdmin, bob, store.RoleOwner, "usr_new", store.RoleMember)},
	{"add a batch of members", batch(5, func(i int) rule {
		return addMember(store.Member{OrgID: acme, UserID: fmt.Sprint("usr_batch_", i), Role: store.RoleMember})
	})},
	{"send a batch of events", batch(5, func(int) rule { return uploadFile(acme, "") })},
	{"remove a member", removeMember(acme, bob)},
	{"append an audit entry", func(tx store.Tx) error { return addAudit(tx, "new") }},
	{"import instructions", func(tx store.Tx) error {
		return store.ImportInstructions(tx, acme, store.Instructions{Text: "Imported.", Set: true})
	}},
	{"set instructions", setInstructions(acme, "Be brief.", true)},
	{"create a key", func(tx store.Tx) error {
		return third(store.CreateKey(tx, ada, store.APIKey{ID: "key_new", OrgID: acme, Scopes: store.ScopeRead, CreatedBy: bob}))
	}},
	{"revoke a key", revokeKey(acme, "key_1")},
	{"create an endpoint", createEndpoint(newEndpoint(acme, "whe_new"))},
	{"change an endpoint", changeEndpoint(acme, "whe_1", store.EndpointChange{Events: []string{"invoice.sent"}})},
	{"reserve attempts by a rate", reserveAttempts(acme, "whe_1")},
	{"note that a request was verified", func(tx store.Tx) error { return store.NoteVerified(tx, acme, "whe_1") }},
	{"disable an endpoint", switchEndpoint(acme, "whe_1", false)},
	{"show headers", func(tx store.Tx) error { return second(store.ShowHeaders(tx, ada, acme, "whe_1")) }},
	{"show a secret", func(tx store.Tx) error { return second(store.ShowSecret(tx, ada, acme, "whe_1")) }},
	{"export the audit log", func(tx store.Tx) error { return store.AuditExport(tx, ada, acme) }},
	{"rotate a secret", rotate(acme, "whe_1", secretOf(1, 32), time.Hour)},
	{"remove an endpoint", removeEndpoint(acme, "whe_1")},
	{"register an event type", register(store.EventType{Name: "invoice.paid"})},
	{"import an event type", func(tx store.Tx) error {
		return third(store.ImportEventType(tx, store.EventType{Name: "teamdata.old"}))
	}},
	{"remove an event type", removeType("invoice.sent")},
	{"create an operator token", func(tx store.Tx) error { return third(store.CreateOperatorToken(tx, "new", time.Time{})) }},
	{"revoke an operator token", func(tx store.Tx) error { return store.RevokeOperatorToken(tx, "opr_1") }},
	{"mail the operator", func(tx store.Tx) error { return store.MailOperator(tx, "ops@example.com", "renewal", nil) }},
	{"signal a failed backup", func(tx store.Tx) error {
		errSelect := changeEndpoint(acme, "whe_1", store.EndpointChange{Events: []string{"teamdata.*"}})(tx)
		return errors.Join(errSelect, store.SignalBackupFailed(tx, acme, "no space left on device"))
	}},
	{"signal a certificate", func(tx store.Tx) error {
		return store.SignalCertificateExpiring(tx, acme, store.CertificateStatus{Name: "a.pem", NotAfter: epoch})
	}},
	{"upload a file", uploadFile(acme, "fil_1")},
	{"send a test", sendTest(acme, "whe_1")},
	{"send an example", sendExample(acme, "whe_1")},
	{"replay a delivery", replay(acme, "whd_1")},
	{"start a replay", func(tx store.Tx) error {
		return second(store.StartReplay(tx, ada, store.ReplayJob{OrgID: acme, Filter: store.DeliveryFilter{State: "failed"}}))
	}},
	{"cancel a replay", func(tx store.Tx) error { return second(store.CancelReplay(tx, ada, acme, "rpl_1")) }},
	{"acknowledge a delivery", attempt("whd_2", 200, nil)},
	{"disable a dead endpoint", func(tx store.Tx) error {
		errAttempt := attempt("whd_2", 500, nil)(tx)
		e, err := tx.Endpoint(acme, "whe_1")
		if !e.Disabled() {
			err = errors.Join(err, store.Errorf(store.CodeConflict, "The endpoint is not disabled."))
		}
		return errors.Join(errAttempt, err)
	}},
	{"extend a lease", ofLease(func(tx store.Tx, of []store.LeaseOf) error {
		return second(store.ExtendLeases(tx, puller, pullID, of, store.MaxLease))
	})},
	{"pull", pull(acme, pullID, leasedID)},
	{"give back what was pulled", ofLease(func(tx store.Tx, of []store.LeaseOf) error {
		return store.NackDeliveries(tx, puller, pullID, of, "not now", nil, store.DefaultRetrySchedule)
	})},
	{"acknowledge what was pulled", func(tx store.Tx) error {
		return store.AckDeliveries(tx, puller, pullID, []string{leasedID})
	}},
	{"delete an org", deleteOrg(acme)},
}...)

var onePrint = store.FingerprintOf("POST", "/one", "", nil)

// second drops a rule's result, and third both results.
func second[T any](_ T, err error) error        { return err }
func third[T, U any](_ T, _ U, err error) error { return err }

// The functions below give a rule what it works on. Rules and random histories share
// them.

func createOrg(o store.Org) rule {
	return func(tx store.Tx) error { return second(store.CreateOrg(tx, ada, o)) }
}

func deleteOrg(id string) rule {
	return func(tx store.Tx) error { return store.DeleteOrg(tx, id) }
}

func putMemberOf(org, user, role string) rule {
	return func(tx store.Tx) error {
		return second(store.PutMember(tx, ada, org, store.MemberValues{UserID: user, MemberChange: store.MemberChange{Role: &role}}))
	}
}

// putMembers puts users, each followed by the role.
func putMembers(org string, usersAndRoles ...string) rule {
	return func(tx store.Tx) error {
		var members []store.MemberValues
		for pair := range slices.Chunk(usersAndRoles, 2) {
			members = append(members, store.MemberValues{UserID: pair[0], MemberChange: store.MemberChange{Role: &pair[1]}})
		}
		return third(store.PutMembers(tx, ada, org, members))
	}
}

// batch is n rules in one Update.
func batch(n int, of func(i int) rule) rule {
	return func(tx store.Tx) (err error) {
		for i := range n {
			err = errors.Join(err, of(i)(tx))
		}
		return err
	}
}

func renameOrg(org, name string) rule {
	return func(tx store.Tx) error { return second(store.RenameOrg(tx, ada, org, name)) }
}

func subscribe(org string, to store.Subscription) rule {
	return func(tx store.Tx) error { return second(store.ChangeSubscription(tx, ada, org, to)) }
}

func removePlan(name string) rule {
	return func(tx store.Tx) error { return store.RemovePlan(tx, name) }
}

func createEndpoint(e store.Endpoint) rule {
	return func(tx store.Tx) error { return second(store.CreateEndpoint(tx, ada, e)) }
}

func removeEndpoint(org, id string) rule {
	return func(tx store.Tx) error { return store.RemoveEndpoint(tx, ada, org, id) }
}

func changeEndpoint(org, id string, c store.EndpointChange) rule {
	return func(tx store.Tx) error { return second(store.ChangeEndpoint(tx, ada, org, id, c)) }
}

func switchEndpoint(org, id string, enabled bool) rule {
	return func(tx store.Tx) error {
		if enabled {
			return store.EnableEndpoint(tx, ada, org, id)
		}
		return store.DisableEndpoint(tx, ada, org, id)
	}
}

// secretOf makes a secret of n bytes that begin with mark.
func secretOf(mark byte, n int) string {
	b := make([]byte, n)
	b[0] = mark
	return "whsec_" + base64.StdEncoding.EncodeToString(b)
}

func rotate(org, id, secret string, overlap time.Duration) rule {
	return func(tx store.Tx) error { return second(store.RotateSecret(tx, ada, org, id, secret, overlap)) }
}

func register(e store.EventType) rule {
	return func(tx store.Tx) error { return third(store.RegisterEventType(tx, e)) }
}

func removeType(name string) rule {
	return func(tx store.Tx) error { return store.RemoveEventType(tx, name) }
}

func uploadFile(org, id string) rule {
	return func(tx store.Tx) error {
		return second(store.UploadFile(tx, ada, store.File{OrgID: org, ID: id, Name: "a", ContentType: "b"}))
	}
}

func replay(org, id string) rule {
	return func(tx store.Tx) error { return second(store.Replay(tx, ada, org, id)) }
}

func sendTest(org, id string) rule {
	return func(tx store.Tx) error { return second(store.SendTest(tx, org, id)) }
}

func sendExample(org, id string) rule {
	return func(tx store.Tx) error {
		return second(store.SendExample(tx, org, id, store.EventMemberAdded, []byte(`{"orgId":"`+org+`"}`)))
	}
}

func removeMember(org, user string) rule {
	return func(tx store.Tx) error { return store.RemoveMember(tx, ada, org, user) }
}

func setInstructions(org, text string, set bool) rule {
	return func(tx store.Tx) error { return store.SetInstructions(tx, ada, org, text, set) }
}

func revokeKey(org, id string) rule {
	return func(tx store.Tx) error { return store.RevokeKey(tx, ada, org, id) }
}

// attempt is one that took a second until now. Any status but 200 is a failure.
func attempt(id string, status int, schedule []time.Duration) rule {
	return func(tx store.Tx) error {
		a := store.Attempt{StartedAt: tx.Now().Add(-time.Second), EndedAt: tx.Now(), Status: status}
		if status != 200 {
			a.Reason = "not 2xx"
		}
		return second(store.RecordAttempt(tx, id, a, schedule))
	}
}

// upload is a rule that sends an event.
func upload(tx store.Tx) error { return uploadFile(acme, "")(tx) }

func changeRole(actor, org, user, role string) rule {
	return func(tx store.Tx) error {
		return second(store.ChangeMember(tx, actor, org, user, store.MemberChange{Role: &role}))
	}
}

func addMember(m store.Member) rule {
	return func(tx store.Tx) error { return second(store.AddMember(tx, ada, m)) }
}

func createKey(tx store.Tx, id string) error {
	return second(store.ImportKey(tx, store.APIKey{ID: id, OrgID: acme, Scopes: store.ScopeRead, CreatedBy: ada}))
}

func addRecord(tx store.Tx, key string) error {
	return tx.AddIdempotencyRecord(store.IdempotencyRecord{
		OrgID: acme, Key: key, FirstUse: tx.Now(), Answer: store.Answer{Status: 200, ContentType: "application/json", Body: []byte("{}")},
	})
}

// putKeyUse puts how a key of acme was used, and makes the key if it is not there.
func putKeyUse(id string, of Values) rule {
	return func(tx store.Tx) error {
		_, err := tx.APIKey(id)
		if store.IsNotFound(err) {
			err = tx.PutAPIKey(store.APIKey{ID: id, OrgID: acme})
		}
		return errors.Join(err, tx.PutKeyUse(id, Sample[store.KeyUse](of)))
	}
}
