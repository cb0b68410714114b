package storetest

import (
	"errors"
	"fmt"
	"time"

	"teamdata/store"
)

// testSweepAmong: more than a chunk of sessions and links, of which those that
// have ended lie among those that have not.
func testSweepAmong(s *subject) {
	s.update(Fill)
	ended := func(i int) bool { return i > 600 && i%2 == 1 }
	for user := range many/store.MaxSessions + 1 {
		first := user * store.MaxSessions
		s.update(func(tx store.Tx) error {
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
	s.view(func(tx store.Tx) error {
		sessions, err := tx.Sessions("ses_many", 2*many)
		links, errLinks := tx.SignInLinks("sil_many", 2*many)
		s.equal("left", []any{len(sessions), len(links)}, []any{want, want})
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
