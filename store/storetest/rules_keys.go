package storetest

import (
	"strings"
	"time"

	"teamdata/store"
)

func newKey(k store.APIKey) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, _, err := store.CreateKey(tx, ada, k)
		return err
	}
}

func testKeyRules(s *subject) {
	s.seed()
	s.update(addPeople)
	soon := s.clock.now().Add(time.Millisecond)
	var k store.APIKey
	var secret string
	s.does("a key is made", func(tx store.Tx) (err error) {
		k, secret, err = store.CreateKey(tx, ada, store.APIKey{ID: "key_1", OrgID: acme, Name: longText, Scopes: store.ScopeWrite, CreatedBy: "usr_2", ExpiresAt: soon})
		return err
	}, effects{actions: []string{"apiKey.created key_1"}})
	s.view(func(tx store.Tx) error {
		kept, err := store.FindKey(tx, acme, "key_1")
		s.equal("the key that is kept", kept, k)
		s.equal("its secret", []any{kept.Matches(secret), store.ValidSecret(secret), kept.Matches(secret + "x")}, []any{true, true, false})
		s.equal("made at", kept.CreatedAt, s.clock.now())
		return err
	})
	good := store.APIKey{ID: "key_2", OrgID: acme, Scopes: store.ScopeRead, CreatedBy: ada}
	s.refused("a key of that id", store.CodeConflict, newKey(store.APIKey{ID: "key_1", OrgID: other, Scopes: store.ScopeRead, CreatedBy: ada}))
	for what, spoil := range map[string]func(*store.APIKey){
		"no scope":             func(k *store.APIKey) { k.Scopes = 0 },
		"a long name":          func(k *store.APIKey) { k.Name = tooLong(200) },
		"no id":                func(k *store.APIKey) { k.ID = "key.2" },
		"an expiry now":        func(k *store.APIKey) { k.ExpiresAt = s.clock.now() },
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
	s.view(func(tx store.Tx) error {
		_, err := store.FindKey(tx, other, "key_1")
		s.code("another org's key", err, store.CodeNotFound)
		_, err = store.FindKey(tx, acme, "key_none")
		s.code("no key", err, store.CodeNotFound)
		return nil
	})
}

// testAccessEnds: a key dies with its creator's role, and lives again with it.
func testAccessEnds(s *subject) {
	s.seed()
	s.update(func(tx store.Tx) error {
		return addMember(tx, store.Member{OrgID: acme, UserID: bob, Role: store.RoleAdmin})
	})
	s.update(newKey(store.APIKey{ID: "key_1", OrgID: acme, Scopes: store.ScopeRead, CreatedBy: bob}))
	holds := func(what string, want bool) {
		s.Helper()
		s.view(func(tx store.Tx) error {
			a, err := store.LoadAccess(tx, "key_1")
			s.equal("access, "+what, a.CreatorManages, want)
			return err
		})
	}
	holds("made by an admin", true)
	for _, c := range []struct {
		what string
		rule func(store.Tx) error
		want bool
	}{
		{"demoted", func(tx store.Tx) error { return changeRole(tx, ada, acme, bob, store.RoleMember) }, false},
		{"an owner", func(tx store.Tx) error { return changeRole(tx, ada, acme, bob, store.RoleOwner) }, true},
		{"removed", func(tx store.Tx) error { return store.RemoveMember(tx, ada, acme, bob) }, false},
	} {
		before := s.AccessGeneration()
		s.update(c.rule)
		s.equal("the AccessGeneration is another, "+c.what, s.AccessGeneration() != before, true)
		holds(c.what, c.want)
	}
}

func testOperatorTokenRules(s *subject) {
	s.seed()
	var presented string
	until := s.clock.now().Add(time.Hour)
	create := func(name string, until time.Time) func(store.Tx) error {
		return func(tx store.Tx) error {
			o, secret, err := store.CreateOperatorToken(tx, name, until)
			presented = o.ID + "." + secret
			return err
		}
	}
	s.does("a token is made", create(longText, until), effects{})
	good := presented
	finds := func(what, presented string, want store.Code) {
		s.Helper()
		s.view(func(tx store.Tx) error {
			o, err := store.FindOperatorToken(tx, presented)
			s.code(what, err, want)
			s.equal(what+": found", o.Name == longText, want == "")
			return nil
		})
	}
	id, secret, _ := strings.Cut(good, ".")
	finds("the token", good, "")
	for what, bad := range map[string]string{
		"nothing": "", "no period": id + secret, "no secret": id + ".", "no id": "." + secret, "a cut secret": good[:len(good)-1],
		"more": good + "x", "another id": "opr_none." + secret,
	} {
		finds(what, bad, store.CodeUnauthorized)
	}
	s.refused("no name", store.CodeBadRequest, create("", time.Time{}))
	s.refused("a long name", store.CodeBadRequest, create(tooLong(200), time.Time{}))
	s.refused("an expiry now", store.CodeBadRequest, create("x", s.clock.now()))
	s.update(create("x", s.clock.now().Add(time.Millisecond)))
	s.refused("a token of that id", store.CodeConflict, func(tx store.Tx) error {
		return store.ImportOperatorToken(tx, store.OperatorToken{ID: id, Name: "x"})
	})
	revoke := func(id string) func(store.Tx) error {
		return func(tx store.Tx) error { return store.RevokeOperatorToken(tx, id) }
	}
	s.clock.move(time.Hour - time.Millisecond)
	finds("just before its end", good, "")
	s.clock.move(time.Millisecond)
	finds("at its end", good, store.CodeUnauthorized)
	s.update(create(longText, time.Time{}))
	finds("one for ever", presented, "")
	id, _, _ = strings.Cut(presented, ".")
	s.does("it is revoked", revoke(id), effects{})
	finds("once it is revoked", presented, store.CodeUnauthorized)
	s.refused("revoking it again", store.CodeNotFound, revoke(id))
}
