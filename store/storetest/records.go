package storetest

import (
	"bytes"
	"strings"
	"time"

	"teamdata/store"
)

// Extremes of what a record may hold.
var (
	longID   = strings.Repeat("Az09_-", 10) + "last"
	unicode  = "\x00\x1f\"\\/<&>\u2028\x7f é 絵 🚀 \U0010FFFF"
	longText = strings.Repeat("🚀", 200)
	firstMs  = time.UnixMilli(0).UTC()
	lastMs   = store.MaxTime
	someTime = time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
)

// roundTrip writes values under different keys, and finds each as it was
// written: in the same transaction, after it, and when the store was closed
// and opened again.
func roundTrip[T any](s *Subject, values []T, put func(store.Tx, T) error, get func(store.Tx, T) (T, error)) {
	s.Helper()
	for _, v := range values {
		s.Write(func(tx store.Tx) error {
			_, err := get(tx, v)
			s.Code("before it was written", err, store.CodeNotFound)
			if err := put(tx, v); err != nil {
				return err
			}
			got, err := get(tx, v)
			s.Equal("in the transaction that wrote it", got, v)
			return err
		})
	}
	for _, when := range []string{"after the commit", "after reopening"} {
		for _, v := range values {
			s.Read(func(tx store.Tx) error {
				got, err := get(tx, v)
				s.Equal(when, got, v)
				return err
			})
		}
		s.Reopen()
	}
}

func testOrgs(s *Subject) {
	any := func() (found bool) {
		s.Read(func(tx store.Tx) (err error) {
			found, err = tx.AnyOrg()
			return err
		})
		return found
	}
	s.Equal("any org in a new store", any(), false)
	orgs := []store.Org{
		{ID: "o"},
		{ID: longID, Name: longText, CreatedAt: lastMs, Subscription: store.Subscription{
			ID: longID, Product: unicode, Plan: longID, Interval: longText, Status: unicode}},
		{ID: "epoch", Name: unicode, CreatedAt: firstMs},
	}
	put := store.Tx.PutOrg
	get := func(tx store.Tx, o store.Org) (store.Org, error) { return tx.Org(o.ID) }
	roundTrip(s, orgs, put, get)
	s.Equal("any org", any(), true)

	orgs[0].Name = "changed"
	s.Write(func(tx store.Tx) error { return tx.PutOrg(orgs[0]) })
	s.Read(func(tx store.Tx) error {
		got, err := tx.Org("o")
		s.Equal("changed org", got, orgs[0])
		return err
	})
}

func testPlans(s *Subject) {
	plans := []store.Plan{{Name: "p"}, {Name: longID, Features: store.FeatureAPI | store.FeatureWebhooks | store.FeatureAuditLog}}
	roundTrip(s, plans, func(tx store.Tx, p store.Plan) error { return tx.PutPlan(p) },
		func(tx store.Tx, p store.Plan) (store.Plan, error) { return tx.Plan(p.Name) })
	s.Write(func(tx store.Tx) error { return tx.PutPlan(store.Plan{Name: "p", Features: store.FeatureAPI}) })
	s.Read(func(tx store.Tx) error {
		got, err := tx.Plan("p")
		s.Equal("changed plan", got.Features, store.FeatureAPI)
		return err
	})
}

func testInstructions(s *Subject) {
	get := func(orgID string) (i store.Instructions) {
		s.Read(func(tx store.Tx) (err error) {
			i, err = tx.Instructions(orgID)
			return err
		})
		return i
	}
	s.Equal("never set", get(acme), store.Instructions{})
	for _, i := range []store.Instructions{
		{Text: "x", Set: true, UpdatedAt: lastMs},
		{Set: true, UpdatedAt: firstMs},
		{UpdatedAt: someTime},
		{Text: unicode + strings.Repeat("絵", 64<<10), Set: true, UpdatedAt: someTime},
	} {
		s.Write(func(tx store.Tx) error { return tx.PutInstructions(acme, i) })
		s.Equal("as set", get(acme), i)
		s.Reopen()
		s.Equal("after reopening", get(acme), i)
	}
	s.Equal("of another org", get(other), store.Instructions{})
}

func testAPIKeys(s *Subject) {
	keys := []store.APIKey{
		{ID: "k"},
		{ID: longID, OrgID: longID, Name: longText, SecretHash: store.HashSecret("s"), Scopes: store.ScopeRead | store.ScopeWrite,
			CreatedBy: longID, CreatedAt: firstMs, ExpiresAt: lastMs, RevokedAt: someTime},
		{ID: "K", OrgID: acme, Name: unicode, Scopes: store.ScopeWrite, CreatedAt: someTime},
	}
	roundTrip(s, keys, func(tx store.Tx, k store.APIKey) error { return tx.PutAPIKey(k) },
		func(tx store.Tx, k store.APIKey) (store.APIKey, error) { return tx.APIKey(k.ID) })
	keys[2].RevokedAt = lastMs
	s.Write(func(tx store.Tx) error { return tx.PutAPIKey(keys[2]) })
	s.Read(func(tx store.Tx) error {
		got, err := tx.APIKey("K")
		s.Equal("changed key", got, keys[2])
		return err
	})
}

func testCertificates(s *Subject) {
	type certificate struct {
		name string
		pem  []byte
	}
	roundTrip(s, []certificate{{"ca", []byte("one")}, {"account key", bytes.Repeat([]byte{0, 255}, 10_000)}, {"\x00", []byte{0}}},
		func(tx store.Tx, c certificate) error { return tx.PutCertificate(c.name, c.pem) },
		func(tx store.Tx, c certificate) (got certificate, err error) {
			got.name = c.name
			got.pem, err = tx.Certificate(c.name)
			return got, err
		})
	s.Write(func(tx store.Tx) error { return tx.PutCertificate("ca", []byte("two")) })
	s.Read(func(tx store.Tx) error {
		pem, err := tx.Certificate("ca")
		s.Equal("changed certificate", string(pem), "two")
		return err
	})
}
