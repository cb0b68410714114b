// Package orgs has the orgs, with their keys, that the tests of the Team Data API and its
// golden exchanges know. It is for tests, and imports store and e2e/kit.
package orgs

import (
	"errors"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// Secret is that of every key.
const Secret = "s3cret"

// Fill sets them up.
func Fill(tx store.Tx) error {
	const both = store.ScopeRead | store.ScopeWrite
	err := store.AddPlan(tx, store.Plan{Name: "readers", Features: store.FeatureAPI | store.FeatureAuditLog})
	add(tx, &err, store.ImportOrg,
		org("org_acme", "business", "active"),
		org("org_team", "team", "active"),       // no audit log
		org("org_readers", "readers", "active"), // no webhooks
		org("org_free", "free", "active"),       // not even the API
		org("org_lapsed", "business", "canceled"),
	)
	add(tx, &err, store.ImportMember,
		store.Member{OrgID: "org_acme", ID: "mem_1", UserID: "usr_ada", Role: "owner", CreatedAt: day(1)},
		store.Member{OrgID: "org_acme", ID: "mem_2", UserID: "usr_bob", Role: "admin", CreatedAt: day(2)},
		store.Member{OrgID: "org_acme", ID: "mem_3", UserID: "usr_cyn", Role: "member", CreatedAt: day(3)},
		store.Member{OrgID: "org_team", ID: "mem_7", UserID: "usr_tom", Role: "owner", CreatedAt: day(1)},
		store.Member{OrgID: "org_readers", ID: "mem_8", UserID: "usr_ron", Role: "owner", CreatedAt: day(1)},
		store.Member{OrgID: "org_free", ID: "mem_9", UserID: "usr_fay", Role: "owner", CreatedAt: day(1)},
		store.Member{OrgID: "org_lapsed", ID: "mem_10", UserID: "usr_liz", Role: "owner", CreatedAt: day(1)},
	)
	add(tx, &err, store.AppendAudit,
		store.AuditEntry{OrgID: "org_acme", ID: "aud_1", ActorID: "usr_ada", Action: "org.created", CreatedAt: day(1)},
		store.AuditEntry{OrgID: "org_acme", ID: "aud_2", ActorID: "usr_ada", Action: "member.added", TargetID: "mem_2", CreatedAt: day(2)},
		store.AuditEntry{OrgID: "org_acme", ID: "aud_3", Action: "webhook.disabled", TargetID: "whe_closed", CreatedAt: day(3)},
	)
	add(tx, &err, importKey,
		store.APIKey{ID: "key_read", OrgID: "org_acme", Scopes: store.ScopeRead, CreatedBy: "usr_ada"},
		store.APIKey{ID: "key_write", OrgID: "org_acme", Scopes: store.ScopeWrite, CreatedBy: "usr_ada"},
		store.APIKey{ID: "key_both", OrgID: "org_acme", Scopes: both, CreatedBy: "usr_bob"},
		store.APIKey{ID: "key_hour", OrgID: "org_acme", Scopes: both, CreatedBy: "usr_ada", ExpiresAt: kit.Noon.Add(time.Hour)},
		store.APIKey{ID: "key_revoked", OrgID: "org_acme", Scopes: both, CreatedBy: "usr_ada", RevokedAt: day(4)},
		store.APIKey{ID: "key_expired", OrgID: "org_acme", Scopes: both, CreatedBy: "usr_ada", ExpiresAt: kit.Noon},
		store.APIKey{ID: "key_demoted", OrgID: "org_acme", Scopes: both, CreatedBy: "usr_cyn"},
		store.APIKey{ID: "key_left", OrgID: "org_acme", Scopes: both, CreatedBy: "usr_nobody"},
		store.APIKey{ID: "key_team", OrgID: "org_team", Scopes: both, CreatedBy: "usr_tom"},
		store.APIKey{ID: "key_readers", OrgID: "org_readers", Scopes: both, CreatedBy: "usr_ron"},
		store.APIKey{ID: "key_free", OrgID: "org_free", Scopes: both, CreatedBy: "usr_fay"},
		store.APIKey{ID: "key_lapsed", OrgID: "org_lapsed", Scopes: both, CreatedBy: "usr_liz"},
	)
	add(tx, &err, importEndpoint,
		store.Endpoint{ID: "whe_open", OrgID: "org_acme"},
		store.Endpoint{ID: "whe_closed", OrgID: "org_acme", DisabledAt: day(3)},
		store.Endpoint{ID: "whe_theirs", OrgID: "org_team"},
	)
	return errors.Join(err, store.ImportInstructions(tx, "org_acme", store.Instructions{
		Text: "Be brief.", Set: true, UpdatedAt: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
	}))
}

// add imports records, and keeps the errors.
func add[T any](tx store.Tx, errs *error, importOne func(store.Tx, T) (T, error), records ...T) {
	for _, record := range records {
		_, err := importOne(tx, record)
		*errs = errors.Join(*errs, err)
	}
}

func org(id, plan, status string) store.Org {
	return store.Org{ID: id, Name: id, Subscription: store.Subscription{Product: "teamdata", Plan: plan, Interval: "month", Status: status}}
}

func importKey(tx store.Tx, k store.APIKey) (store.APIKey, error) {
	k.SecretHash = store.HashSecret(Secret)
	return store.ImportKey(tx, k)
}

func importEndpoint(tx store.Tx, e store.Endpoint) (store.Endpoint, error) {
	e.URL, e.Events = "https://hooks.example/in", []string{store.EventMemberAdded}
	return store.ImportEndpoint(tx, e)
}

// day is the start of a day in January 2026.
func day(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
