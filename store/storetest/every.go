package storetest

import (
	"errors"

	"teamdata/store"
)

var errFailing = errors.New("this transaction is to fail")

// everyName are the names that changeEverything uses.
var everyName = names{
	orgs: []string{acme, other, "org_new"}, users: []string{ada, bob, "usr_eve", "usr_new"}, plans: []string{"pro", "new", "old"},
	keys: []string{"key_1", "key_2", "key_new"}, endpoints: []string{"whe_1", "whe_2", "whe_new"},
	records: []string{"one", "two", "new"}, certificates: []string{"ca", "new"},
	types: []string{"invoice.paid", "invoice.sent", "invoice.void"}, tokens: []string{"opr_1", "opr_2", "opr_new"},
	events: []string{"evt_1", "evt_2", "evt_3"}, deliveries: []string{"whd_1", "whd_2", "whd_3"},
	sessions: []string{"ses_1", "ses_2"}, links: []string{"sil_1", "sil_2"},
}

// fillEverything writes records of every kind, on top of seed. It returns the
// ids of two deliveries that wait.
func (s *Subject) fillEverything() (n names, first, second string) {
	endpoint := s.Seed()
	s.Write(func(tx store.Tx) error {
		r := record(tx)
		d1, err1 := store.SendTest(r, acme, endpoint.ID)
		d2, err2 := store.SendTest(r, acme, endpoint.ID)
		n, first, second = everyName, d1.ID, d2.ID
		n.given(r.ids)
		return errors.Join(err1, err2,
			store.AddPlan(r, store.Plan{Name: "pro", Features: store.FeatureAPI}),
			createKey(r, "key_1"), createKey(r, "key_2"),
			appendMember(r, store.Member{OrgID: acme, UserID: bob, Role: store.RoleOwner}),
			appendMember(r, store.Member{OrgID: acme, UserID: "usr_eve", Role: store.RoleMember}),
			r.PutInstructions(acme, store.Instructions{Text: "x", Set: true, UpdatedAt: r.Now()}),
			addRecord(r, "one"), addRecord(r, "two"),
			r.PutMail(store.Mail{ID: "mai_1", To: "a"}), r.PutMail(store.Mail{ID: "mai_2", To: "b"}),
			addFinished(r, endpoint, 1), addFinished(r, endpoint, 2),
			r.PutCertificate("ca", []byte("ca")),
			fillSettings(r), addAccount(r, bob),
			r.PutKeyLastUsed("key_1", r.Now()), r.AddDeliveryCounts(acme, 1, r.Now(), store.DeliveryCounts{Failed: 1}),
			addAudit(r, "filled"))
	})
	return n, first, second
}

// changeEverything adds, changes and removes records of every kind.
func changeEverything(tx store.Tx, first, second string) error {
	org, err := tx.Org(acme)
	org.Name = "changed"
	endpoint := newEndpoint(acme, "whe_1")
	endpoint.Number, endpoint.DisabledAt = 1, tx.Now()
	_, errOrg := store.ImportOrg(tx, store.Org{ID: "org_new", Name: "New"})
	_, errEndpoint := store.ImportEndpoint(tx, newEndpoint(acme, "whe_new"))
	_, errMember := store.AddMember(tx, ada, store.Member{OrgID: acme, UserID: "usr_new", Role: store.RoleOwner})
	_, errTest := store.SendTest(tx, acme, "whe_1")
	_, errExpire := tx.ExpireIdempotencyRecords(100)
	return errors.Join(err, errOrg, errEndpoint, errMember, errTest, errExpire,
		tx.PutOrg(org),
		store.AddPlan(tx, store.Plan{Name: "pro"}), store.AddPlan(tx, store.Plan{Name: "new"}),
		changeRole(tx, ada, acme, ada, store.RoleMember),
		store.RemoveMember(tx, ada, acme, bob),
		changeRole(tx, ada, acme, "usr_eve", store.RoleOwner),
		store.SetInstructions(tx, ada, acme, "", false),
		createKey(tx, "key_new"), store.RevokeKey(tx, ada, acme, "key_1"),
		attemptNow(tx, first, store.Attempt{Status: 200}),
		attemptNow(tx, second, store.Attempt{Reason: "no"}),
		tx.PutEndpoint(endpoint),
		changeQueue(tx), changeSettings(tx), changeAccounts(tx),
		addRecord(tx, "new"),
		tx.PutCertificate("ca", []byte("changed")), tx.PutCertificate("new", []byte("new")))
}

// Same holds two dumps to being the same.
func (s *Subject) Same(what, got, want string) {
	s.Helper()
	if got != want {
		s.Errorf("%s:\n%s", what, difference(got, want))
	}
}
