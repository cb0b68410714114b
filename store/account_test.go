package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/storetest"
)

// TestAccountEnds: an account ends with the last role that manages, and with it
// the sessions.
func TestAccountEnds(t *testing.T) { onBoth(t, testAccountEnds) }

func testAccountEnds(s *subject) {
	s.Write(storetest.Fill)
	_, cookie := s.signIn(eve)
	has := func(what, user string, want bool) {
		s.Helper()
		s.Read(func(tx store.Tx) error {
			_, err := tx.Account(user)
			s.Equal("an account of "+user+", "+what, err == nil, want)
			sessions, errList := tx.Sessions("", 1000)
			for _, v := range sessions {
				s.Equal("a session of "+user+", "+what, v.UserID == user && !want, false)
			}
			return errList
		})
	}
	demote := func(org, user string) {
		s.Helper()
		s.Write(func(tx store.Tx) error { return changeRole(tx, "", org, user, store.RoleMember) })
	}
	name := "Bob"
	s.Write(func(tx store.Tx) error {
		return second(store.ChangeMember(tx, "", acme, bob, store.MemberChange{Name: &name}))
	})
	has("renamed", bob, true)
	s.Write(func(tx store.Tx) error { return changeRole(tx, "", acme, bob, store.RoleOwner) })
	has("promoted", bob, true)
	s.Write(func(tx store.Tx) error { return changeRole(tx, "", acme, bob, store.RoleAdmin) })
	has("an admin again", bob, true)
	demote(acme, bob)
	has("demoted", bob, false)
	s.isSignedIn("demoted", "ses_1."+known, false)

	demote(acme, eve)
	has("demoted in one of two orgs", eve, true)
	s.isSignedIn("demoted in one of two orgs", cookie, true)
	s.Write(func(tx store.Tx) error { return store.RemoveMember(tx, "", acme, eve) })
	has("removed from one of two orgs", eve, true)
	s.Code("removing the last owner", s.Attempt(func(tx store.Tx) error { return store.RemoveMember(tx, "", acme, ada) }), store.CodeConflict)
	s.Write(func(tx store.Tx) error { return store.RemoveMember(tx, "", other, eve) })
	has("removed from both", eve, false)
	s.isSignedIn("removed from both", cookie, false)
	s.Equal("bob's address is free", s.addressIsFree("bob@example.com"), true)
}

func (s *subject) addressIsFree(email string) (free bool) {
	s.Helper()
	s.Read(func(tx store.Tx) error {
		_, err := tx.AccountByEmail(email)
		free = store.IsNotFound(err)
		return nil
	})
	return free
}

func TestPasskeys(t *testing.T) { onBoth(t, testPasskeys) }

func testPasskeys(s *subject) {
	s.Write(storetest.Fill)
	use := func(user, id string) func(store.Tx) error {
		return func(tx store.Tx) error { return store.UsePasskey(tx, user, id, []byte("made"), []byte("used")) }
	}
	remove := func(user, id string) func(store.Tx) error {
		return func(tx store.Tx) error { return store.RemovePasskey(tx, user, id) }
	}
	named := func(name string) func(store.Tx) error {
		return func(tx store.Tx) error { return store.AddPasskey(tx, bob, store.Passkey{ID: "q", Name: name}) }
	}
	sized := func(id string, bytes int) func(store.Tx) error {
		return func(tx store.Tx) error {
			return store.AddPasskey(tx, bob, store.Passkey{ID: id, Name: "key", Credential: make([]byte, bytes)})
		}
	}
	for what, refused := range map[string]struct {
		code store.Code
		rule func(store.Tx) error
	}{
		"adding one to nobody":     {store.CodeNotFound, addPasskey("usr_none", "q")},
		"adding one that is there": {store.CodeConflict, addPasskey(bob, "p")},
		"adding one of no name":    {store.CodeBadRequest, named("")},
		"a long name":              {store.CodeBadRequest, named(tooLong(200))},
		"a long credential":        {store.CodeBadRequest, sized("q", 2<<10+1)},
		"using none":               {store.CodeNotFound, use(bob, "q")},
		"using another's":          {store.CodeNotFound, use(eve, "p")},
		"removing none":            {store.CodeNotFound, remove(bob, "q")},
		"removing another's":       {store.CodeNotFound, remove(eve, "p")},
		"using one of nobody":      {store.CodeNotFound, use("usr_none", "p")},
		"removing one of nobody":   {store.CodeNotFound, remove("usr_none", "p")},
	} {
		s.refused(what, refused.code, refused.rule)
	}
	s.Clock.Move(time.Minute)
	s.Write(use(bob, "p"))
	p := s.Account(bob).Passkeys[0]
	s.refused("used since it was checked", store.CodeConflict, use(bob, "p"))
	s.Equal("used", []any{string(p.Credential), p.LastUsedAt, p.CreatedAt}, []any{"used", s.Clock.Now(), s.Clock.Now().Add(-61 * time.Minute)})
	for i := 1; i < 19; i++ {
		s.Write(addPasskey(bob, fmt.Sprint("q", i)))
	}
	s.Write(sized("long", 2<<10))
	s.Equal("the second", s.Account(bob).Passkeys[1], store.Passkey{ID: "q1", Name: "key", Credential: []byte("{}"), CreatedAt: s.Clock.Now()})
	s.refused("one too many", store.CodeConflict, addPasskey(bob, "q"))
	s.Write(remove(bob, "q1"))
	s.Write(addPasskey(bob, "q"))
	var ids []string
	for _, p := range s.Account(bob).Passkeys {
		ids = append(ids, p.ID)
	}
	s.Equal("in order", []any{ids[:3], ids[len(ids)-1], len(ids)}, []any{[]string{"p", "q2", "q3"}, "q", 20})
}

func TestCheckPassword(t *testing.T) {
	ada := store.Account{UserID: "usr_ada_lovelace", Email: "Ada@acme.example"}
	for password, ok := range map[string]bool{
		strings.Repeat("x", 11):    false,
		strings.Repeat("x", 12):    true,
		strings.Repeat("é", 12):    true,
		strings.Repeat("é", 200):   true,
		strings.Repeat("é", 201):   false,
		"":                         false,
		"usr_ada_lovelace":         false,
		"USR_ADA_LOVELACE":         false,
		"ada@ACME.example":         false,
		"ada@acme.example!":        true,
		"twelve or more\xff":       false,
		"spaces at the ends are  ": true,
	} {
		err := store.CheckPassword(ada, password)
		if (err == nil) != ok || err != nil && (store.CodeOf(err) != store.CodeBadRequest || err.(*store.Error).Field != "password") {
			t.Errorf("%q: %v", password, err)
		}
	}
	if err := store.CheckPassword(store.Account{UserID: "usr_ada"}, strings.Repeat("x", 20)); err != nil {
		t.Errorf("of an account without an address: %v", err)
	}
}

func addPasskey(user, id string) func(store.Tx) error {
	return func(tx store.Tx) error {
		return store.AddPasskey(tx, user, store.Passkey{ID: id, Name: "key", Credential: []byte("{}")})
	}
}

// TestInternationalAddress: an address is the same with its domain in Unicode and in ASCII,
// and mail goes to the latter.
func TestInternationalAddress(t *testing.T) { onBoth(t, testInternationalAddress) }

func testInternationalAddress(s *subject) {
	s.Write(storetest.Fill)
	const typed, ascii = "Zoé@Bücher.example", "Zoé@xn--bcher-kva.example"
	invite := func(email string) func(store.Tx) error {
		return func(tx store.Tx) error {
			return second(store.Invite(tx, ada, store.Member{OrgID: acme, Role: store.RoleViewer, Email: email}))
		}
	}
	s.Write(invite(typed))
	zoe := s.memberWith(typed)
	for _, email := range []string{typed, ascii, "zoé@BÜCHER.example", "zoé@bu\u0308cher.example", "zoé@ｂücher。example"} {
		s.Code("inviting "+email, store.CheckInvited(s.Context(), s.Store, acme, email), store.CodeConflict)
	}
	s.Write(func(tx store.Tx) error { return second(store.QueueSignInLink(tx, acme, zoe.UserID, time.Hour)) })
	s.Equal("the mail goes", s.Mails()[0].To, ascii)
	for _, name := range []string{typed, ascii, "ZOÉ@bücher.example"} {
		s.Read(func(tx store.Tx) error {
			a, err := store.FindAccount(tx, name)
			s.Equal("the account of "+name, a.UserID, zoe.UserID)
			return err
		})
		s.refused("inviting "+name, store.CodeConflict, invite(name))
	}

	// An account from before has the address as it was typed.
	s.Write(func(tx store.Tx) error {
		a := s.Account(zoe.UserID)
		a.Email = typed
		return tx.PutAccount(a)
	})
	s.refused("inviting the one from before", store.CodeConflict, invite(typed))
	s.Read(func(tx store.Tx) error { return second(store.FindAccount(tx, typed)) })
}
