package storetest

import (
	"context"
	"errors"
	"sync/atomic"

	"teamdata/store"
)

func testCancelled(s *Subject) {
	s.Seed()
	before := s.Dump()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := s.Update(ctx, store.All, func(tx store.Tx) error { return addAudit(tx, "cancelled") })
	s.Equal("cancelled Update", errors.Is(err, context.Canceled), true)
	err = s.View(ctx, func(tx store.Tx) error { return nil })
	s.Equal("cancelled View", errors.Is(err, context.Canceled), true)
	s.Same("after it", s.Dump(), before)
}

// testOneMoment has a View go on while an Update commits: the Update does not
// wait for it, and it does not see the Update.
func testOneMoment(s *Subject) {
	n := s.FillEverything()
	var before string
	s.Read(func(tx store.Tx) error {
		before = dump(tx, n)
		if err := s.Update(context.Background(), store.All, changeEverything); err != nil {
			return err
		}
		s.Same("in the View, after the Update", dump(tx, n), before)
		return nil
	})
	s.Read(func(tx store.Tx) error {
		s.Equal("a later View sees the same", dump(tx, n) == before, false)
		return nil
	})
}

func testDurable(s *Subject) {
	n := s.FillEverything()
	s.Write(changeEverything)
	before := s.DumpAll(n)
	for range 3 {
		s.Reopen()
		s.Same("after reopening", s.DumpAll(n), before)
		s.Write(func(tx store.Tx) error { return addAudit(tx, "again") })
		before = s.DumpAll(n)
	}
}

func testClosed(s *Subject) {
	s.Code("close", s.Close(), "")
	nothing := func(store.Tx) error { return nil }
	s.Code("View of a closed store", s.View(context.Background(), nothing), store.CodeUnavailable)
	s.Code("Update of a closed store", s.Update(context.Background(), store.All, nothing), store.CodeUnavailable)
	s.Store = Scoped(s.TB, s.open(s.TB, s.path, s.Clock.Now))
}

// testAccessGeneration changes all that an Access depends on, and event types.
func testAccessGeneration(s *Subject) {
	s.Seed()
	var told atomic.Int64
	s.OnAccess(func() { told.Add(1) })
	eve := store.Member{OrgID: acme, UserID: "usr_eve", Role: store.RoleAdmin}
	for _, change := range []struct {
		what string
		do   func(store.Tx) error
	}{
		{"a key is made", func(tx store.Tx) error { return createKey(tx, "key_1") }},
		{"a key is revoked", revokeKey(acme, "key_1")},
		{"a member is added", addMember(eve)},
		{"a role is changed", changeRole(ada, acme, eve.UserID, "none")},
		{"a member is removed", removeMember(acme, eve.UserID)},
		{"a plan is added", func(tx store.Tx) error { return store.AddPlan(tx, store.Plan{Name: "pro"}) }},
		{"the subscription is changed", subscribe(acme, store.Subscription{Product: "p", Plan: "pro", Interval: "i", Status: "active"})},
		{"the plan is changed", func(tx store.Tx) error {
			return store.AddPlan(tx, store.Plan{Name: "pro", Features: store.FeatureAPI})
		}},
		{"an org is made", createOrg(store.Org{ID: "org_new", Name: "New"})},
		{"the org is deleted", deleteOrg(acme)},
	} {
		before, toldBefore := s.AccessGeneration(), told.Load()
		s.Write(change.do)
		if s.AccessGeneration() == before || told.Load() == toldBefore {
			s.Errorf("%s: the AccessGeneration was %d and is %d, told %d times", change.what, before, s.AccessGeneration(), told.Load()-toldBefore)
		}
	}
	// A node that could not look whether others changed it has another one each time, so
	// that each change that leaves it has three turns.
	kept := map[string]bool{}
	for range 3 {
		for _, change := range []struct {
			what string
			do   func(store.Tx) error
		}{
			{"an event type is registered", register(store.EventType{Name: "invoice.paid"})},
			{"an event type is changed", register(store.EventType{Name: "invoice.paid", Description: "An invoice was paid."})},
			{"an event type is removed", func(tx store.Tx) error { return store.RemoveEventType(tx, "invoice.paid") }},
		} {
			access, before := s.AccessGeneration(), s.EventTypeGeneration()
			s.Write(change.do)
			if s.EventTypeGeneration() == before {
				s.Errorf("%s: the EventTypeGeneration is still %d", change.what, before)
			}
			what := "AccessGeneration once " + change.what
			kept[what] = kept[what] || s.AccessGeneration() == access
		}
		types := s.EventTypeGeneration()
		s.Code("an Update that fails", s.Update(context.Background(), store.All, func(tx store.Tx) error {
			return errors.Join(register(store.EventType{Name: "invoice.paid"})(tx), store.Errorf(store.CodeConflict, "No."))
		}), store.CodeConflict)
		const failed, used = "EventTypeGeneration once an Update has failed", "AccessGeneration once a key is used"
		kept[failed] = kept[failed] || s.EventTypeGeneration() == types
		access := s.AccessGeneration()
		s.Write(func(tx store.Tx) error { return tx.PutKeyUse("key_1", store.KeyUse{LastUsedAt: someTime}) })
		kept[used] = kept[used] || s.AccessGeneration() == access
	}
	for what, is := range kept {
		s.Equal(what+" is as before", is, true)
	}
}
