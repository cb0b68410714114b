package store_test

import (
	"testing"
	"time"

	"teamdata/store"
)

func TestKeyRules(t *testing.T) { onBoth(t, testKeyRules) }

func testKeyRules(s *subject) {
	s.Seed()
	s.Write(addPeople)
	soon := s.Clock.Now().Add(time.Millisecond)
	var k store.APIKey
	var secret string
	s.does("a key is made", func(tx store.Tx) (err error) {
		k, secret, err = store.CreateKey(tx, ada, store.APIKey{ID: "key_1", OrgID: acme, Name: longText, Scopes: store.ScopeWrite, CreatedBy: "usr_2", ExpiresAt: soon})
		return err
	}, effects{actions: []string{"apiKey.created key_1"}})
	s.Read(func(tx store.Tx) error {
		kept, err := store.FindKey(tx, acme, "key_1")
		s.Equal("the key that is kept", kept, k)
		s.Equal("its secret", []any{kept.SecretHash.Matches(secret), store.ValidSecret(secret), kept.SecretHash.Matches(secret + "x")}, []any{true, true, false})
		s.Equal("made at", kept.CreatedAt, s.Clock.Now())
		return err
	})
	good := store.APIKey{ID: "key_2", OrgID: acme, Scopes: store.ScopeRead, CreatedBy: ada}
	s.refused("a key of that id", store.CodeConflict, newKey(store.APIKey{ID: "key_1", OrgID: other, Scopes: store.ScopeRead, CreatedBy: ada}))
	for what, spoil := range map[string]func(*store.APIKey){
		"no scope":             func(k *store.APIKey) { k.Scopes = 0 },
		"a long name":          func(k *store.APIKey) { k.Name = tooLong(200) },
		"no id":                func(k *store.APIKey) { k.ID = "key.2" },
		"an expiry now":        func(k *store.APIKey) { k.ExpiresAt = s.Clock.Now() },
		"nobody's":             func(k *store.APIKey) { k.CreatedBy = "" },
		"one who is no member": func(k *store.APIKey) { k.CreatedBy = "usr_none" },
		"one who manages not":  func(k *store.APIKey) { k.CreatedBy = "usr_4" },
		"another org's owner":  func(k *store.APIKey) { k.OrgID, k.CreatedBy = other, "usr_2" },
	} {
		bad := good
		spoil(&bad)
		s.refused("a key with "+what, store.CodeBadRequest, newKey(bad))
	}
	good.OrgID = "org_none"
	s.refused("a key of no org", store.CodeNotFound, newKey(good))
	revoke := func(org, id string) func(store.Tx) error {
		return func(tx store.Tx) error { return store.RevokeKey(tx, ada, org, id) }
	}
	s.refused("revoking another org's key", store.CodeNotFound, revoke(other, "key_1"))
	s.refused("revoking no key", store.CodeNotFound, revoke(acme, "key_none"))
	s.does("a key is revoked", revoke(acme, "key_1"), effects{actions: []string{"apiKey.revoked key_1"}})
	s.changesNothing("and revoked again", revoke(acme, "key_1"))
	s.Read(func(tx store.Tx) error {
		_, err := store.FindKey(tx, other, "key_1")
		s.Code("another org's key", err, store.CodeNotFound)
		_, err = store.FindKey(tx, acme, "key_none")
		s.Code("no key", err, store.CodeNotFound)
		return nil
	})
}

// TestKeyUseAddsUp: use that is added late, or again, takes nothing back.
func TestKeyUseAddsUp(t *testing.T) { onBoth(t, testKeyUseAddsUp) }

func testKeyUseAddsUp(s *subject) {
	s.Seed()
	s.Write(newKey(store.APIKey{ID: "key_1", OrgID: acme, Scopes: store.ScopeRead, CreatedBy: ada}))
	for _, at := range []time.Time{someTime, someTime.Add(time.Minute), someTime} {
		s.Write(func(tx store.Tx) error { return store.AddKeyUse(tx, "key_1", store.KeyUse{LastUsedAt: at}) })
	}
	s.Read(func(tx store.Tx) error {
		u, err := tx.KeyUse("key_1")
		s.Equal("use", u, store.KeyUse{LastUsedAt: someTime.Add(time.Minute)})
		return err
	})
}

// TestAccessEnds: a key dies with its creator's role, and lives again with it, but not
// when the creator was removed since.
func TestAccessEnds(t *testing.T) { onBoth(t, testAccessEnds) }

func testAccessEnds(s *subject) {
	s.Seed()
	asAdmin := func(tx store.Tx) error {
		return addMember(tx, store.Member{OrgID: acme, UserID: bob, Role: store.RoleAdmin})
	}
	s.Write(asAdmin)
	s.Write(newKey(store.APIKey{ID: "key_1", OrgID: acme, Scopes: store.ScopeRead, CreatedBy: bob}))
	holds := func(what string, want store.KeyState) {
		s.Helper()
		s.Read(func(tx store.Tx) error {
			a, err := store.LoadAccess(tx, "key_1")
			s.Equal("the key, "+what, a.State(s.Clock.Now()), want)
			return err
		})
	}
	holds("made by an admin", store.KeyActive)
	for _, c := range []struct {
		what string
		rule func(store.Tx) error
		want store.KeyState
	}{
		{"demoted", func(tx store.Tx) error { return changeRole(tx, ada, acme, bob, store.RoleMember) }, store.KeySuspended},
		{"an owner", func(tx store.Tx) error { return changeRole(tx, ada, acme, bob, store.RoleOwner) }, store.KeyActive},
		{"removed", func(tx store.Tx) error { return store.RemoveMember(tx, ada, acme, bob) }, store.KeyRevoked},
		{"added again", asAdmin, store.KeyRevoked},
	} {
		before := s.AccessGeneration()
		s.Write(c.rule)
		s.Equal("the AccessGeneration is another, "+c.what, s.AccessGeneration() != before, true)
		holds(c.what, c.want)
	}
}

func newKey(k store.APIKey) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, _, err := store.CreateKey(tx, ada, k)
		return err
	}
}

func createKey(tx store.Tx, id string) error {
	_, err := store.ImportKey(tx, store.APIKey{ID: id, OrgID: acme, Scopes: store.ScopeRead, CreatedBy: ada})
	return err
}
