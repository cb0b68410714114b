package storetest

import (
	"fmt"
	"strings"

	"teamdata/store"
)

// tooLong are texts of so many characters and one more.
func tooLong(characters int) string { return strings.Repeat("é", characters+1) }

func createOrg(o store.Org) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.CreateOrg(tx, ada, o)) }
}

func renameOrg(org, name string) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.RenameOrg(tx, ada, org, name)) }
}

func testOrgRules(s *subject) {
	s.seed()
	s.does("another org is made", createOrg(store.Org{ID: "org_new", Name: longText}), effects{})
	s.equal("its log", s.entries("org_new"), []string{"org.created org_new"})
	s.shows("who did it", s.auditLog("org_new"), `"actorId":"usr_ada"`)
	s.view(func(tx store.Tx) error {
		o, err := tx.Org("org_new")
		s.equal("its subscription", []any{o.Subscription.Plan, o.Subscription.Status, o.CreatedAt}, []any{store.DefaultPlan, "active", s.clock.now()})
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
	s.equal("its name", strings.Contains(s.orgDump(acme), "Name:"+longText), true)
	s.changesNothing("the same name", renameOrg(acme, longText))
	s.refused("no name", store.CodeBadRequest, renameOrg(acme, ""))
	s.refused("a long name", store.CodeBadRequest, renameOrg(acme, tooLong(200)))
	s.refused("a name that is not UTF-8", store.CodeBadRequest, renameOrg(acme, "\xff"))
	s.refused("no org", store.CodeNotFound, renameOrg("org_none", "x"))
}

func subscribe(org string, to store.Subscription) func(store.Tx) error {
	return func(tx store.Tx) error { return changeSubscription(tx, org, to) }
}

// testSubscriptionRules: what is missing is kept, and the event goes out by the
// new plan.
func testSubscriptionRules(s *subject) {
	s.seed()
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

func removePlan(name string) func(store.Tx) error {
	return func(tx store.Tx) error { return store.RemovePlan(tx, name) }
}

// testPlanRules removes plans among more orgs than are looked at together.
func testPlanRules(s *subject) {
	s.seed()
	s.update(func(tx store.Tx) error {
		for i := range many {
			if err := tx.PutOrg(store.Org{ID: fmt.Sprintf("many_%04d", i)}); err != nil {
				return err
			}
		}
		return store.AddPlan(tx, store.Plan{Name: "pro", Features: store.FeatureAPI})
	})
	last := fmt.Sprintf("many_%04d", many-1)
	s.update(subscribe(last, store.Subscription{ID: "s", Product: "p", Plan: "pro", Interval: "i", Status: "cancelled"}))
	s.refused("a plan that an org has", store.CodeConflict, removePlan("pro"))
	for _, plan := range store.BuiltInPlans {
		s.refused("a plan that is built in", store.CodeConflict, removePlan(plan.Name))
	}
	s.refused("no plan", store.CodeNotFound, removePlan("none"))
	s.update(subscribe(last, store.Subscription{Plan: "team"}))
	s.does("a plan that no org has", removePlan("pro"), effects{})
	s.refused("a plan that was removed", store.CodeNotFound, removePlan("pro"))
	s.refused("an org wants it", store.CodeBadRequest, subscribe(acme, store.Subscription{Plan: "pro"}))
}
