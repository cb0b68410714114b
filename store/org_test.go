package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"teamdata/store"
	"teamdata/store/storetest"
)

func TestOrgRules(t *testing.T) { onBoth(t, testOrgRules) }

func testOrgRules(s *subject) {
	s.Seed()
	s.does("another org is made", createOrg(store.Org{ID: "org_new", Name: longText}), effects{})
	s.Equal("its log", s.entries("org_new"), []string{"org.created org_new"})
	s.shows("who did it", s.AuditLog("org_new"), `"actorId":"usr_ada"`)
	s.Read(func(tx store.Tx) error {
		o, err := tx.Org("org_new")
		s.Equal("its subscription", []any{o.Subscription.Plan, o.Subscription.Status, o.CreatedAt}, []any{store.DefaultPlan, "active", s.Clock.Now()})
		return err
	})
	s.refused("an org of that id", store.CodeConflict, createOrg(store.Org{ID: acme, Name: "x"}))
	for what, o := range map[string]store.Org{
		"no name":         {ID: "org_x"},
		"a long name":     {ID: "org_x", Name: tooLong(200)},
		"no UTF-8":        {ID: "org_x", Name: "\xff"},
		"no id":           {ID: "org x", Name: "x"},
		"a long id":       {ID: strings.Repeat("x", 65), Name: "x"},
		"an unknown plan": {ID: "org_x", Name: "x", Subscription: store.Subscription{Product: "p", Plan: "none", Interval: "i", Status: "s"}},
	} {
		s.refused("an org with "+what, store.CodeBadRequest, createOrg(o))
	}

	s.does("renamed", renameOrg(acme, longText), effects{actions: []string{"org.renamed org_acme"}})
	s.Equal("its name", strings.Contains(s.DumpOrg(acme), "Name:"+longText), true)
	s.changesNothing("the same name", renameOrg(acme, longText))
	s.refused("no name", store.CodeBadRequest, renameOrg(acme, ""))
	s.refused("a long name", store.CodeBadRequest, renameOrg(acme, tooLong(200)))
	s.refused("a name that is not UTF-8", store.CodeBadRequest, renameOrg(acme, "\xff"))
	s.refused("no org", store.CodeNotFound, renameOrg("org_none", "x"))
}

// TestSubscriptionRules: what is missing is kept, and the event goes out by the
// new plan.
func TestSubscriptionRules(t *testing.T) { onBoth(t, testSubscriptionRules) }

func testSubscriptionRules(s *subject) {
	s.Seed()
	long := strings.Repeat("é", 64)
	whole := store.Subscription{ID: "sub_1", Product: long, Plan: "team", Interval: long, Status: "pastDue"}
	changed := func(plan, status string) effects {
		data := map[string]any{"orgId": acme, "subscriptionId": "sub_1", "product": long, "plan": plan, "interval": long, "status": status}
		return effects{[]string{"subscription.changed sub_1"}, []sent{{"subscription.changed", data}}}
	}
	unheard := effects{actions: []string{"subscription.changed sub_1"}}
	s.does("all of it", subscribe(acme, whole), changed("team", "pastDue"))
	s.does("the plan", subscribe(acme, store.Subscription{Plan: "business"}), changed("business", "pastDue"))
	s.does("the status", subscribe(acme, store.Subscription{Status: "trialing"}), changed("business", "trialing"))
	s.does("a plan without webhooks", subscribe(acme, store.Subscription{Plan: "free"}), unheard)
	s.does("back again", subscribe(acme, store.Subscription{Plan: "business"}), changed("business", "trialing"))
	s.does("a status that grants nothing", subscribe(acme, store.Subscription{Status: "cancelled"}), unheard)
	s.does("one that does", subscribe(acme, store.Subscription{Status: "active"}), changed("business", "active"))
	s.changesNothing("nothing given", subscribe(acme, store.Subscription{}))
	s.changesNothing("the same", subscribe(acme, store.Subscription{ID: "sub_1", Product: long, Plan: "business", Interval: long, Status: "active"}))
	for what, bad := range map[string]store.Subscription{
		"an unknown plan": {Plan: "none"}, "no id": {ID: "sub 1"}, "a long product": {Product: tooLong(64)},
		"a long interval": {Interval: tooLong(64)}, "a long status": {Status: tooLong(64)}, "no UTF-8": {Status: "\xff"},
	} {
		s.refused(what, store.CodeBadRequest, subscribe(acme, bad))
	}
	s.refused("no org", store.CodeNotFound, subscribe("org_none", whole))
}

// TestOrgRemoved: of an org that is deleted nothing is left, as if it had never been, and
// another org keeps all of its own.
func TestOrgRemoved(t *testing.T) { onBoth(t, testOrgRemoved) }

func testOrgRemoved(s *subject) {
	never := s.DumpOrg(acme)
	s.Write(storetest.Fill)
	s.Write(func(tx store.Tx) error {
		return errors.Join(tx.AddDeliveryCounts(acme, 1, tx.Now(), store.DeliveryCounts{Failed: 1}), tx.AddDeliveryCounts(other, 3, tx.Now(), store.DeliveryCounts{Failed: 1}),
			tx.AddIdempotencyRecord(store.IdempotencyRecord{OrgID: acme, Key: "one", FirstUse: tx.Now()}), tx.AddIdempotencyRecord(store.IdempotencyRecord{OrgID: other, Key: "one", FirstUse: tx.Now()}),
			tx.PutMail(store.Mail{ID: "mai_1", OrgID: acme}), tx.PutMail(store.Mail{ID: "mai_2", OrgID: other}),
			tx.PutSession(store.Session{ID: "ses_portal", UserID: "usr_guest", CreatedAt: tx.Now(), LastSeenAt: tx.Now(), Portal: store.Portal{OrgID: acme}}))
	})
	others := s.DumpOrg(other)
	s.Write(func(tx store.Tx) error { return store.DeleteOrg(tx, acme) })
	s.Code("dropping", store.DropRemoved(context.Background(), s), "")
	s.Same("the org", s.DumpOrg(acme), never)
	s.Same("the other org", s.DumpOrg(other), others)
	mails := s.Mails()
	s.Equal("mails", []any{len(mails), mails[0].ID}, []any{1, "mai_2"})
	s.Read(func(tx store.Tx) error {
		sessions, errSessions := tx.Sessions("", 10)
		s.Equal("sessions", len(sessions), 0)
		_, errLink := tx.SignInLink("sil_2")
		s.Code("a portal link", errLink, store.CodeNotFound)
		_, errAccount := tx.Account(bob) // who saw no other org
		s.Code("an account", errAccount, store.CodeNotFound)
		return errSessions
	})
}

func createOrg(o store.Org) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.CreateOrg(tx, ada, o)) }
}

func renameOrg(org, name string) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.RenameOrg(tx, ada, org, name)) }
}

func subscribe(org string, to store.Subscription) func(store.Tx) error {
	return func(tx store.Tx) error { return changeSubscription(tx, org, to) }
}

func changeSubscription(tx store.Tx, orgID string, to store.Subscription) error {
	_, err := store.ChangeSubscription(tx, ada, orgID, to)
	return err
}
