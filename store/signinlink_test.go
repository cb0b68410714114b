package store_test

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/storetest"
)

// newLink makes a sign-in link for a user of acme, and returns its token.
func (s *subject) newLink(user string, ttl time.Duration) (token string) {
	s.Helper()
	s.Write(func(tx store.Tx) (err error) {
		_, token, err = store.CreateSignInLink(tx, acme, user, ttl)
		return err
	})
	return token
}

// stolen are tokens or cookies that one makes of what the store keeps.
func stolen(token string, hash store.SecretHash) []string {
	id, secret, _ := strings.Cut(token, ".")
	return []string{
		id + "." + hex.EncodeToString(hash[:]), id + "." + string(hash[:]), id + "." + base64.StdEncoding.EncodeToString(hash[:]),
		id + "." + base64.RawURLEncoding.EncodeToString(hash[:]), id + ".", id, "." + secret, secret, "", id + "." + secret + "x",
		id + "." + secret[1:], id + " ." + secret, "x" + token, strings.ToUpper(token), id + ".." + secret,
	}
}

func TestSignInLinks(t *testing.T) { onBoth(t, testSignInLinks) }

func testSignInLinks(s *subject) {
	s.Write(storetest.Fill)
	s.changesNothing("looking", func(tx store.Tx) error { return second(store.FindSignInLink(tx, "sil_1."+known)) })
	for what, refused := range map[string]struct {
		code store.Code
		rule func(store.Tx) error
	}{
		"no member":      {store.CodeNotFound, createLink(acme, "usr_none", time.Hour)},
		"another org's":  {store.CodeNotFound, createLink(other, bob, time.Hour)},
		"no org":         {store.CodeNotFound, createLink("org_none", bob, time.Hour)},
		"no time":        {store.CodeBadRequest, createLink(acme, ada, 0)},
		"too much time":  {store.CodeBadRequest, createLink(acme, ada, 7*day+1)},
		"an unknown one": {store.CodeUnauthorized, useLink("sil_none." + known)},
	} {
		s.refused("a link of "+what, refused.code, refused.rule)
	}
	s.Write(func(tx store.Tx) error {
		return addMember(tx, store.Member{OrgID: acme, UserID: "usr_new", Role: store.RoleMember})
	})
	s.refused("a link of one who manages nothing", store.CodeConflict, createLink(acme, "usr_new", time.Hour))

	s.newLink(bob, 7*day)
	token := s.newLink(ada, time.Hour)
	a := s.Account(ada)
	s.Equal("the account that it makes", a, store.Account{UserID: ada, Email: "ada@example.com", CreatedAt: s.Clock.Now()})
	s.Read(func(tx store.Tx) error {
		l, err := store.FindSignInLink(tx, token)
		s.Equal("the link", []any{l.UserID, l.CreatedAt, l.ExpiresAt}, []any{ada, s.Clock.Now(), s.Clock.Now().Add(time.Hour)})
		for _, bad := range stolen(token, l.SecretHash) {
			_, err := store.FindSignInLink(tx, bad)
			s.Code("the link "+bad, err, store.CodeUnauthorized)
		}
		return err
	})
	s.Clock.Move(time.Hour - time.Millisecond)
	s.Write(useLink(token))
	s.Equal("the password", []any{s.Account(ada).PasswordHash, s.Account(ada).PasswordAt}, []any{"new hash", s.Clock.Now()})
	s.refused("used again", store.CodeUnauthorized, useLink(token))

	token = s.newLink(bob, time.Hour)
	s.Write(func(tx store.Tx) error { return second(store.UseSignInLink(tx, token, "new hash", true)) })
	s.Equal("the passkeys that stay", len(s.Account(bob).Passkeys), 1)
	s.Clock.Move(time.Millisecond)
	s.Write(useLink(s.newLink(bob, time.Hour)))
	s.Equal("the passkeys that don't", len(s.Account(bob).Passkeys), 0)
}

// TestSignInLinkEnds: a link ends with its time, with a password that was chosen
// since, and with the account.
func TestSignInLinkEnds(t *testing.T) { onBoth(t, testSignInLinkEnds) }

func testSignInLinkEnds(s *subject) {
	s.Write(storetest.Fill)
	late := s.newLink(ada, time.Hour)
	s.Clock.Move(time.Hour)
	s.refused("at its end", store.CodeUnauthorized, useLink(late))

	first, second := s.newLink(ada, time.Hour), s.newLink(ada, time.Hour)
	bobs := s.newLink(bob, time.Hour)
	s.Clock.Move(time.Millisecond)
	s.Write(useLink(second))
	s.refused("when another was used since", store.CodeUnauthorized, useLink(first))
	third := s.newLink(ada, time.Hour)
	s.Clock.Move(time.Millisecond)
	s.Write(func(tx store.Tx) error { return store.SetPassword(tx, ada, "by hand", "") })
	s.refused("when a password was set since", store.CodeUnauthorized, useLink(third))

	s.Write(func(tx store.Tx) error { return changeRole(tx, ada, acme, bob, store.RoleMember) })
	s.refused("when its user manages nothing", store.CodeUnauthorized, useLink(bobs))
	s.Clock.Move(time.Millisecond)
	s.Write(func(tx store.Tx) error { return changeRole(tx, ada, acme, bob, store.RoleAdmin) })
	s.refused("when its user manages again", store.CodeUnauthorized, useLink(bobs))
	fresh := s.newLink(bob, time.Hour)
	s.refused("when there is an account again", store.CodeUnauthorized, useLink(bobs))
	s.Write(useLink(fresh))
	s.refused("used in the millisecond in which it was made", store.CodeUnauthorized, useLink(fresh))
}

// TestAccountAddress: a link gives the account the member's address, unless it is
// another account's.
func TestAccountAddress(t *testing.T) { onBoth(t, testAccountAddress) }

func testAccountAddress(s *subject) {
	s.Write(storetest.Fill)
	address := func(email string) {
		s.Helper()
		s.Write(func(tx store.Tx) error {
			_, err := store.ChangeMember(tx, "", acme, eve, store.MemberChange{Email: &email})
			return err
		})
		s.newLink(eve, time.Hour)
	}
	address("Eve@example.com")
	s.Equal("the member's", s.Account(eve).Email, "Eve@example.com")
	address("BOB@example.com")
	s.Equal("that of another account", s.Account(eve).Email, "")
	s.Equal("the other has it", s.Account(bob).Email, "Bob@example.com")
	address("eve@new.example")
	s.Equal("another one", s.Account(eve).Email, "eve@new.example")
	s.Write(createLink(other, eve, time.Hour))
	s.Equal("that of the other org, where she has none", s.Account(eve).Email, "")
}

func createLink(org, user string, ttl time.Duration) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, _, err := store.CreateSignInLink(tx, org, user, ttl)
		return err
	}
}

func useLink(token string) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.UseSignInLink(tx, token, "new hash", false)) }
}
