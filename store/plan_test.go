package store_test

import (
	"fmt"
	"testing"

	"teamdata/store"
)

// TestPlanRules removes plans among more orgs than are looked at together.
func TestPlanRules(t *testing.T) { onBoth(t, testPlanRules) }

func testPlanRules(s *subject) {
	s.Seed()
	s.Write(func(tx store.Tx) error {
		for i := range many {
			if err := tx.PutOrg(store.Org{ID: fmt.Sprintf("many_%04d", i)}); err != nil {
				return err
			}
		}
		return store.AddPlan(tx, store.Plan{Name: "pro", Features: store.FeatureAPI})
	})
	last := fmt.Sprintf("many_%04d", many-1)
	s.Write(subscribe(last, store.Subscription{ID: "s", Product: "p", Plan: "pro", Interval: "i", Status: "cancelled"}))
	s.refused("a plan that an org has", store.CodeConflict, removePlan("pro"))
	for _, plan := range store.BuiltInPlans {
		s.refused("a plan that is built in", store.CodeConflict, removePlan(plan.Name))
	}
	s.refused("no plan", store.CodeNotFound, removePlan("none"))
	s.Write(subscribe(last, store.Subscription{Plan: "team"}))
	s.does("a plan that no org has", removePlan("pro"), effects{})
	s.refused("a plan that was removed", store.CodeNotFound, removePlan("pro"))
	s.refused("an org wants it", store.CodeBadRequest, subscribe(acme, store.Subscription{Plan: "pro"}))
}

func removePlan(name string) func(store.Tx) error {
	return func(tx store.Tx) error { return store.RemovePlan(tx, name) }
}
