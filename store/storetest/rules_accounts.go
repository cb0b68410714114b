package storetest

import (
	"fmt"
	"time"

	"teamdata/store"
)

// testAccountEnds: an account ends with the last role that manages, and with it
// the sessions.
func testAccountEnds(s *subject) {
	s.update(Fill)
	_, cookie := s.signIn(eve)
	has := func(what, user string, want bool) {
		s.Helper()
		s.view(func(tx store.Tx) error {
			_, err := tx.Account(user)
			s.equal("an account of "+user+", "+what, err == nil, want)
			sessions, errList := tx.Sessions("", 1000)
			for _, v := range sessions {
				s.equal("a session of "+user+", "+what, v.UserID == user && !want, false)
			}
			return errList
		})
	}
	demote := func(org, user string) {
		s.Helper()
		s.update(func(tx store.Tx) error { return changeRole(tx, "", org, user, store.RoleMember) })
	}
	name := "Bob"
	s.update(func(tx store.Tx) error {
		return second(store.ChangeMember(tx, "", acme, bob, store.MemberChange{Name: &name}))
	})
	has("renamed", bob, true)
	s.update(func(tx store.Tx) error { return changeRole(tx, "", acme, bob, store.RoleOwner) })
	has("promoted", bob, true)
	s.update(func(tx store.Tx) error { return changeRole(tx, "", acme, bob, store.RoleAdmin) })
	has("an admin again", bob, true)
	demote(acme, bob)
	has("demoted", bob, false)
	s.isSignedIn("demoted", "ses_1."+known, false)

	demote(acme, eve)
	has("demoted in one of two orgs", eve, true)
	s.isSignedIn("demoted in one of two orgs", cookie, true)
	s.update(func(tx store.Tx) error { return store.RemoveMember(tx, "", acme, eve) })
	has("removed from one of two orgs", eve, true)
	s.code("removing the last owner", s.attempt(func(tx store.Tx) error { return store.RemoveMember(tx, "", acme, ada) }), store.CodeConflict)
	s.update(func(tx store.Tx) error { return store.RemoveMember(tx, "", other, eve) })
	has("removed from both", eve, false)
	s.isSignedIn("removed from both", cookie, false)
	s.equal("bob's address is free", s.addressIsFree("bob@example.com"), true)
}

func (s *subject) addressIsFree(email string) (free bool) {
	s.Helper()
	s.view(func(tx store.Tx) error {
		_, err := tx.AccountByEmail(email)
		free = store.IsNotFound(err)
		return nil
	})
	return free
}

func testPasskeys(s *subject) {
	s.update(Fill)
	use := func(user, id string) func(store.Tx) error {
		return func(tx store.Tx) error { return store.UsePasskey(tx, user, id, []byte("used")) }
	}
	remove := func(user, id string) func(store.Tx) error {
		return func(tx store.Tx) error { return store.RemovePasskey(tx, user, id) }
	}
	named := func(name string) func(store.Tx) error {
		return func(tx store.Tx) error { return store.AddPasskey(tx, bob, store.Passkey{ID: "q", Name: name}) }
	}
	for what, refused := range map[string]struct {
		code store.Code
		rule func(store.Tx) error
	}{
		"adding one to nobody":     {store.CodeNotFound, addPasskey("usr_none", "q")},
		"adding one that is there": {store.CodeConflict, addPasskey(bob, "p")},
		"adding one of no name":    {store.CodeBadRequest, named("")},
		"a long name":              {store.CodeBadRequest, named(tooLong(200))},
		"using none":               {store.CodeNotFound, use(bob, "q")},
		"using another's":          {store.CodeNotFound, use(eve, "p")},
		"removing none":            {store.CodeNotFound, remove(bob, "q")},
		"removing another's":       {store.CodeNotFound, remove(eve, "p")},
		"using one of nobody":      {store.CodeNotFound, use("usr_none", "p")},
		"removing one of nobody":   {store.CodeNotFound, remove("usr_none", "p")},
	} {
		s.refused(what, refused.code, refused.rule)
	}
	s.clock.move(time.Minute)
	s.update(use(bob, "p"))
	p := s.account(bob).Passkeys[0]
	s.equal("used", []any{string(p.Credential), p.LastUsedAt, p.CreatedAt}, []any{"used", s.clock.now(), s.clock.now().Add(-61 * time.Minute)})
	for i := 1; i < store.MaxPasskeys; i++ {
		s.update(addPasskey(bob, fmt.Sprint("q", i)))
	}
	s.equal("the second", s.account(bob).Passkeys[1], store.Passkey{ID: "q1", Name: "key", Credential: []byte("{}"), CreatedAt: s.clock.now()})
	s.refused("one too many", store.CodeConflict, addPasskey(bob, "q"))
	s.update(remove(bob, "q1"))
	s.update(addPasskey(bob, "q"))
	var ids []string
	for _, p := range s.account(bob).Passkeys {
		ids = append(ids, p.ID)
	}
	s.equal("in order", []any{ids[:3], ids[len(ids)-1], len(ids)}, []any{[]string{"p", "q2", "q3"}, "q", store.MaxPasskeys})
}
