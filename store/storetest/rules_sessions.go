package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

// signIn makes a session, and returns its cookie.
func (s *subject) signIn(user string) (made store.Session, cookie string) {
	s.Helper()
	s.update(func(tx store.Tx) (err error) {
		made, cookie, err = store.CreateSession(tx, user, "Browser/1")
		return err
	})
	return made, cookie
}

// isSignedIn holds a cookie to being good, or not.
func (s *subject) isSignedIn(what, cookie string, want bool) {
	s.Helper()
	s.view(func(tx store.Tx) error {
		_, err := store.FindSession(tx, cookie)
		s.code(what, err, map[bool]store.Code{true: "", false: store.CodeUnauthorized}[want])
		return nil
	})
}

// sessionsOf are the ids of an account's sessions that are live, and of those
// that are kept.
func (s *subject) sessionsOf(user string) (live, kept []string) {
	s.Helper()
	s.view(func(tx store.Tx) error {
		sessions, err := store.AccountSessions(tx, user)
		for _, v := range sessions {
			live = append(live, v.ID)
		}
		all, errAll := tx.Sessions("", 1000)
		for _, v := range all {
			if v.UserID == user {
				kept = append(kept, v.ID)
			}
		}
		s.equal("the account's list is that of the sessions", slices.Sorted(slices.Values(s.account(user).Sessions)), kept)
		s.code("listing", errAll, "")
		return err
	})
	return live, kept
}

func testSessions(s *subject) {
	s.update(Fill)
	s.refused("a session of nobody", store.CodeNotFound, createSession("usr_none"))
	s.refused("a session of one without account", store.CodeNotFound, createSession(ada))
	made, cookie := s.signIn(bob)
	s.view(func(tx store.Tx) error {
		found, err := store.FindSession(tx, cookie)
		s.equal("the session", found, made)
		s.equal("made at", []any{found.CreatedAt, found.LastSeenAt}, []any{s.clock.now(), s.clock.now()})
		for _, bad := range append(stolen(cookie, found.SecretHash), "ses_2."+known, "ses_none."+known) {
			_, err := store.FindSession(tx, bad)
			s.code("the session "+bad, err, store.CodeUnauthorized)
		}
		return err
	})
	s.update(func(tx store.Tx) error {
		long, _, err := store.CreateSession(tx, bob, strings.Repeat("é", 100)+"\xff")
		s.equal("a browser that tells much", long.UserAgent, strings.Repeat("é", 100))
		odd, _, _ := store.CreateSession(tx, bob, "x\xffy"+strings.Repeat("é", 100))
		s.equal("a browser that tells odd things", odd.UserAgent, "xy"+strings.Repeat("é", 98))
		return err
	})
	end := func(user, id string) func(store.Tx) error {
		return func(tx store.Tx) error { return store.EndSession(tx, user, id) }
	}
	s.refused("ending another's session", store.CodeNotFound, end(eve, made.ID))
	s.refused("ending no session", store.CodeNotFound, end(bob, "ses_none"))
	s.update(end(bob, made.ID))
	s.isSignedIn("once it has ended", cookie, false)
	s.refused("ending it again", store.CodeNotFound, end(bob, made.ID))
	s.changesNothing("seeing it", func(tx store.Tx) error { return store.SeeSession(tx, made.ID) })
	live, _ := s.sessionsOf(bob)
	s.equal("the others are there", len(live), 4)
	s.update(func(tx store.Tx) error { return store.EndOtherSessions(tx, bob, "ses_1") })
	live, kept := s.sessionsOf(bob)
	s.equal("all others have ended", []any{live, kept}, []any{[]string{"ses_1"}, []string{"ses_1"}})
	s.update(func(tx store.Tx) error { return store.SetPassword(tx, bob, "hash", "ses_none") })
	_, kept = s.sessionsOf(bob)
	s.equal("a password ends those that are not named", kept, []string{})
}

// testMaxSessions: one too many ends the oldest.
func testMaxSessions(s *subject) {
	s.update(Fill)
	var ids, cookies []string
	for range store.MaxSessions + 3 {
		made, cookie := s.signIn(eve)
		ids, cookies = append(ids, made.ID), append(cookies, cookie)
	}
	live, kept := s.sessionsOf(eve)
	s.equal("sessions", []any{live, kept}, []any{ids[3:], ids[3:]})
	for i, cookie := range cookies {
		s.isSignedIn(fmt.Sprint("session ", i), cookie, i >= 3)
	}
	s.equal("another's", s.account(bob).Sessions, []string{"ses_1", "ses_2"})
}

// testSessionLimits: both sides of each bound, and what a sweep drops.
func testSessionLimits(s *subject) {
	s.update(Fill)
	see := func(id string) { s.update(func(tx store.Tx) error { return store.SeeSession(tx, id) }) }
	idle, cookie := s.signIn(eve)
	s.clock.move(store.SessionIdle - time.Millisecond)
	s.isSignedIn("just before it is idle too long", cookie, true)
	s.sweep(day)
	s.isSignedIn("swept", cookie, true)
	s.clock.move(time.Millisecond)
	s.isSignedIn("idle too long", cookie, false)
	s.changesNothing("seeing it then", func(tx store.Tx) error { return store.SeeSession(tx, idle.ID) })
	live, kept := s.sessionsOf(eve)
	s.equal("idle too long, it is kept until the sweep", []any{live, kept}, []any{[]string{}, []string{idle.ID}})
	s.sweep(day)
	_, kept = s.sessionsOf(eve)
	s.equal("kept after it", kept, []string{})
	_, kept = s.sessionsOf(bob)
	s.equal("another's are dropped, too", kept, []string{})

	made, cookie := s.signIn(eve)
	for s.clock.now().Before(made.CreatedAt.Add(store.SessionAge - 10*time.Hour)) {
		s.clock.move(10 * time.Hour)
		see(made.ID)
		s.sweep(day)
		s.isSignedIn("in use", cookie, true)
	}
	s.clock.move(made.CreatedAt.Add(store.SessionAge - time.Millisecond).Sub(s.clock.now()))
	s.isSignedIn("just before it is too old", cookie, true)
	see(made.ID)
	s.clock.move(time.Millisecond)
	s.isSignedIn("too old", cookie, false)
	s.sweep(day)
	_, kept = s.sessionsOf(eve)
	s.equal("kept when it is too old", kept, []string{})
}
