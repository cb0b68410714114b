package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/storetest"
)

// TestSweepAmong: more than a chunk of sessions and links, of which those that
// have ended lie among those that have not.
func TestSweepAmong(t *testing.T) { onBoth(t, testSweepAmong) }

func testSweepAmong(s *subject) {
	s.Write(storetest.Fill)
	ended := func(i int) bool { return i > 600 && i%2 == 1 }
	for user := range many/store.MaxSessions + 1 {
		first := user * store.MaxSessions
		s.Write(func(tx store.Tx) error {
			return addSessions(tx, fmt.Sprintf("usr_%d", user), first, min(first+store.MaxSessions, many), ended)
		})
	}
	s.sweep(day)
	want := 0
	for i := range many {
		if !ended(i) {
			want++
		}
	}
	s.Read(func(tx store.Tx) error {
		sessions, err := tx.Sessions("ses_many", 2*many)
		links, errLinks := tx.SignInLinks("sil_many", 2*many)
		s.Equal("left", []any{len(sessions), len(links)}, []any{want, want})
		return errors.Join(err, errLinks)
	})
}

// addSessions gives a new manager of acme sessions and links, of which some end
// at this moment and the others a millisecond later.
func addSessions(tx store.Tx, user string, from, to int, ended func(int) bool) error {
	err := addMember(tx, store.Member{OrgID: acme, UserID: user, Role: store.RoleAdmin})
	a := store.Account{UserID: user}
	for i := from; i < to; i++ {
		end := tx.Now()
		if !ended(i) {
			end = end.Add(time.Millisecond)
		}
		begin := end.Add(-store.SessionIdle)
		v := store.Session{ID: fmt.Sprintf("ses_many_%04d", i), UserID: user, CreatedAt: begin, LastSeenAt: begin}
		l := store.SignInLink{ID: fmt.Sprintf("sil_many_%04d", i), UserID: user, CreatedAt: begin, ExpiresAt: end}
		a.Sessions = append(a.Sessions, v.ID)
		err = errors.Join(err, tx.PutSession(v), tx.PutSignInLink(l))
	}
	return errors.Join(err, tx.PutAccount(a))
}

// signIn makes a session, and returns its cookie.
func (s *subject) signIn(user string) (made store.Session, cookie string) {
	s.Helper()
	s.Write(func(tx store.Tx) (err error) {
		made, cookie, err = store.CreateSession(tx, user, "Browser/1")
		return err
	})
	return made, cookie
}

// isSignedIn holds a cookie to being good, or not.
func (s *subject) isSignedIn(what, cookie string, want bool) {
	s.Helper()
	s.Read(func(tx store.Tx) error {
		_, err := store.FindSession(tx, cookie)
		s.Code(what, err, map[bool]store.Code{true: "", false: store.CodeUnauthorized}[want])
		return nil
	})
}

// sessionsOf are the ids of an account's sessions that are live, and of those
// that are kept.
func (s *subject) sessionsOf(user string) (live, kept []string) {
	s.Helper()
	s.Read(func(tx store.Tx) error {
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
		s.Equal("the account's list is that of the sessions", slices.Sorted(slices.Values(s.Account(user).Sessions)), kept)
		s.Code("listing", errAll, "")
		return err
	})
	return live, kept
}

func TestSessions(t *testing.T) { onBoth(t, testSessions) }

func testSessions(s *subject) {
	s.Write(storetest.Fill)
	s.refused("a session of nobody", store.CodeNotFound, createSession("usr_none"))
	s.refused("a session of one without account", store.CodeNotFound, createSession(ada))
	made, cookie := s.signIn(bob)
	s.Read(func(tx store.Tx) error {
		found, err := store.FindSession(tx, cookie)
		s.Equal("the session", found, made)
		s.Equal("made at", []any{found.CreatedAt, found.LastSeenAt}, []any{s.Clock.Now(), s.Clock.Now()})
		for _, bad := range append(stolen(cookie, found.SecretHash), "ses_2."+known, "ses_none."+known) {
			_, err := store.FindSession(tx, bad)
			s.Code("the session "+bad, err, store.CodeUnauthorized)
		}
		return err
	})
	s.Write(func(tx store.Tx) error {
		long, _, err := store.CreateSession(tx, bob, strings.Repeat("é", 100)+"\xff")
		s.Equal("a browser that tells much", long.UserAgent, strings.Repeat("é", 100))
		odd, _, _ := store.CreateSession(tx, bob, "x\xffy"+strings.Repeat("é", 100))
		s.Equal("a browser that tells odd things", odd.UserAgent, "xy"+strings.Repeat("é", 98))
		return err
	})
	end := func(user, id string) func(store.Tx) error {
		return func(tx store.Tx) error { return store.EndSession(tx, user, id) }
	}
	s.refused("ending another's session", store.CodeNotFound, end(eve, made.ID))
	s.refused("ending no session", store.CodeNotFound, end(bob, "ses_none"))
	s.Write(end(bob, made.ID))
	s.isSignedIn("once it has ended", cookie, false)
	s.refused("ending it again", store.CodeNotFound, end(bob, made.ID))
	s.changesNothing("seeing it", func(tx store.Tx) error { return store.TouchSession(tx, made.ID) })
	live, _ := s.sessionsOf(bob)
	s.Equal("the others are there", len(live), 4)
	s.Write(func(tx store.Tx) error { return store.EndOtherSessions(tx, bob, "ses_1") })
	live, kept := s.sessionsOf(bob)
	s.Equal("all others have ended", []any{live, kept}, []any{[]string{"ses_1"}, []string{"ses_1"}})
	s.Write(func(tx store.Tx) error { return store.SetPassword(tx, bob, "hash", "ses_none") })
	_, kept = s.sessionsOf(bob)
	s.Equal("a password ends those that are not named", kept, []string{})
}

// TestMaxSessions: one more than 20 ends the oldest.
func TestMaxSessions(t *testing.T) { onBoth(t, testMaxSessions) }

func testMaxSessions(s *subject) {
	s.Write(storetest.Fill)
	var ids, cookies []string
	for range 20 + 3 {
		made, cookie := s.signIn(eve)
		ids, cookies = append(ids, made.ID), append(cookies, cookie)
	}
	live, kept := s.sessionsOf(eve)
	s.Equal("sessions", []any{live, kept}, []any{ids[3:], ids[3:]})
	for i, cookie := range cookies {
		s.isSignedIn(fmt.Sprint("session ", i), cookie, i >= 3)
	}
	s.Equal("another's", s.Account(bob).Sessions, []string{"ses_1", "ses_2"})
}

// TestSessionLimits: both sides of each bound, and what a sweep drops.
func TestSessionLimits(t *testing.T) { onBoth(t, testSessionLimits) }

func testSessionLimits(s *subject) {
	s.Write(storetest.Fill)
	see := func(id string) { s.Write(func(tx store.Tx) error { return store.TouchSession(tx, id) }) }
	idle, cookie := s.signIn(eve)
	s.Clock.Move(12*time.Hour - time.Millisecond)
	s.isSignedIn("just before it is idle too long", cookie, true)
	s.sweep(day)
	s.isSignedIn("swept", cookie, true)
	s.Clock.Move(time.Millisecond)
	s.isSignedIn("idle too long", cookie, false)
	s.changesNothing("seeing it then", func(tx store.Tx) error { return store.TouchSession(tx, idle.ID) })
	live, kept := s.sessionsOf(eve)
	s.Equal("idle too long, it is kept until the sweep", []any{live, kept}, []any{[]string{}, []string{idle.ID}})
	s.sweep(day)
	_, kept = s.sessionsOf(eve)
	s.Equal("kept after it", kept, []string{})
	_, kept = s.sessionsOf(bob)
	s.Equal("another's are dropped, too", kept, []string{})

	made, cookie := s.signIn(eve)
	for s.Clock.Now().Before(made.CreatedAt.Add(30*day - 10*time.Hour)) {
		s.Clock.Move(10 * time.Hour)
		see(made.ID)
		s.sweep(day)
		s.isSignedIn("in use", cookie, true)
	}
	s.Clock.Move(made.CreatedAt.Add(30*day - time.Millisecond).Sub(s.Clock.Now()))
	s.isSignedIn("just before it is too old", cookie, true)
	see(made.ID)
	s.Clock.Move(time.Millisecond)
	s.isSignedIn("too old", cookie, false)
	s.sweep(day)
	_, kept = s.sessionsOf(eve)
	s.Equal("kept when it is too old", kept, []string{})
}

func createSession(user string) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, _, err := store.CreateSession(tx, user, "Browser/1")
		return err
	}
}
