// Package orgs has the orgs, with their keys, that the tests of the Team Data API and its
// golden exchanges know. It is for tests, and imports store and e2e/kit.
package orgs

import (
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// Secret is that of every key.
const Secret = "s3cret"

// Fill sets them up.
func Fill(tx store.Tx) error {
	if err := store.AddPlan(tx, store.Plan{Name: "readers", Features: store.FeatureAPI | store.FeatureAuditLog}); err != nil {
		return err
	}
	for _, fill := range []func(store.Tx) error{fillOrgs, fillMembers, fillAuditLog, fillKeys, fillEndpoints} {
		if err := fill(tx); err != nil {
			return err
		}
	}
	return store.ImportInstructions(tx, "org_acme", store.Instructions{
		Text: "Be brief.", Set: true, UpdatedAt: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
	})
}

func fillOrgs(tx store.Tx) error {
	for _, o := range []struct{ id, plan, status string }{
		{"org_acme", "business", "active"},
		{"org_team", "team", "active"},       // no audit log
		{"org_readers", "readers", "active"}, // no webhooks
		{"org_free", "free", "active"},       // not even the API
		{"org_lapsed", "business", "canceled"},
	} {
		sub := store.Subscription{Product: "teamdata", Plan: o.plan, Interval: "month", Status: o.status}
		if _, err := store.ImportOrg(tx, store.Org{ID: o.id, Name: o.id, Subscription: sub}); err != nil {
			return err
		}
	}
	return nil
}

func fillMembers(tx store.Tx) error {
	for _, m := range []store.Member{
		{OrgID: "org_acme", ID: "mem_1", UserID: "usr_ada", Role: "owner", CreatedAt: day(1)},
		{OrgID: "org_acme", ID: "mem_2", UserID: "usr_bob", Role: "admin", CreatedAt: day(2)},
		{OrgID: "org_acme", ID: "mem_3", UserID: "usr_cyn", Role: "member", CreatedAt: day(3)},
		{OrgID: "org_team", ID: "mem_7", UserID: "usr_tom", Role: "owner", CreatedAt: day(1)},
		{OrgID: "org_readers", ID: "mem_8", UserID: "usr_ron", Role: "owner", CreatedAt: day(1)},
		{OrgID: "org_free", ID: "mem_9", UserID: "usr_fay", Role: "owner", CreatedAt: day(1)},
		{OrgID: "org_lapsed", ID: "mem_10", UserID: "usr_liz", Role: "owner", CreatedAt: day(1)},
	} {
		if _, err := store.ImportMember(tx, m); err != nil {
			return err
		}
	}
	return nil
}

func fillAuditLog(tx store.Tx) error {
	for _, e := range []store.AuditEntry{
		{OrgID: "org_acme", ID: "aud_1", ActorID: "usr_ada", Action: "org.created", CreatedAt: day(1)},
		{OrgID: "org_acme", ID: "aud_2", ActorID: "usr_ada", Action: "member.added", TargetID: "mem_2", CreatedAt: day(2)},
		{OrgID: "org_acme", ID: "aud_3", Action: "webhook.disabled", TargetID: "whe_closed", CreatedAt: day(3)},
	} {
		if _, err := store.AppendAudit(tx, e); err != nil {
			return err
		}
	}
	return nil
}

func fillKeys(tx store.Tx) error {
	const both = store.ScopeRead | store.ScopeWrite
	for _, k := range []store.APIKey{
		{ID: "key_read", OrgID: "org_acme", Scopes: store.ScopeRead, CreatedBy: "usr_ada"},
		{ID: "key_write", OrgID: "org_acme", Scopes: store.ScopeWrite, CreatedBy: "usr_ada"},
		{ID: "key_both", OrgID: "org_acme", Scopes: both, CreatedBy: "usr_bob"},
		{ID: "key_hour", OrgID: "org_acme", Scopes: both, CreatedBy: "usr_ada", ExpiresAt: kit.Noon.Add(time.Hour)},
		{ID: "key_revoked", OrgID: "org_acme", Scopes: both, CreatedBy: "usr_ada", RevokedAt: day(4)},
		{ID: "key_expired", OrgID: "org_acme", Scopes: both, CreatedBy: "usr_ada", ExpiresAt: kit.Noon},
		{ID: "key_demoted", OrgID: "org_acme", Scopes: both, CreatedBy: "usr_cyn"},
		{ID: "key_left", OrgID: "org_acme", Scopes: both, CreatedBy: "usr_nobody"},
		{ID: "key_team", OrgID: "org_team", Scopes: both, CreatedBy: "usr_tom"},
		{ID: "key_readers", OrgID: "org_readers", Scopes: both, CreatedBy: "usr_ron"},
		{ID: "key_free", OrgID: "org_free", Scopes: both, CreatedBy: "usr_fay"},
		{ID: "key_lapsed", OrgID: "org_lapsed", Scopes: both, CreatedBy: "usr_liz"},
	} {
		k.SecretHash = store.HashSecret(Secret)
		if _, err := store.ImportKey(tx, k); err != nil {
			return err
		}
	}
	return nil
}

func fillEndpoints(tx store.Tx) error {
	for _, e := range []store.Endpoint{
		{ID: "whe_open", OrgID: "org_acme"},
		{ID: "whe_closed", OrgID: "org_acme", DisabledAt: day(3)},
		{ID: "whe_theirs", OrgID: "org_team"},
	} {
		e.URL, e.Events = "https://hooks.example/in", []string{store.EventMemberAdded}
		if _, err := store.ImportEndpoint(tx, e); err != nil {
			return err
		}
	}
	return nil
}

// day is the start of a day in January 2026.
func day(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
