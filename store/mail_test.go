package store_test

import (
	"fmt"
	"testing"
	"time"

	"teamdata/store"
)

// TestPostponeMail has a mail fail again and again, each time when it is due.
func TestPostponeMail(t *testing.T) { onBoth(t, testPostponeMail) }

func testPostponeMail(s *subject) {
	start := s.Clock.Now()
	m := store.Mail{ID: "mai_1", OrgID: acme, To: "a", CreatedAt: start, DueAt: start}
	s.Write(func(tx store.Tx) error { return tx.PutMail(m) })
	pauses := []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute}
	for range 35 { // 35 times two hours and 31 minutes are the last that fit 72 hours
		pauses = append(pauses, 2*time.Hour)
	}
	for i, pause := range pauses {
		next := s.postpone(m)
		s.Equal(fmt.Sprintf("due after try %d", i+1), next, s.Clock.Now().Add(pause))
		m.Attempts, m.DueAt = i+1, next
		s.Equal(fmt.Sprintf("the mail after try %d", i+1), s.Mails(), []store.Mail{m})
		s.Clock.Move(pause)
	}
	s.Equal("given up after the last", s.postpone(m), time.Time{})
	s.Equal("mails", s.Mails(), []store.Mail{})

	m.CreatedAt = s.Clock.Now().Add(2*time.Hour - 3*day)
	s.Write(func(tx store.Tx) error { return tx.PutMail(m) })
	s.Equal("due at the end of its time", s.postpone(m), s.Clock.Now().Add(2*time.Hour))
	m.CreatedAt = m.CreatedAt.Add(-time.Millisecond)
	s.Write(func(tx store.Tx) error { return tx.PutMail(m) })
	s.Equal("given up behind the end", s.postpone(m), time.Time{})
}

// TestPostponeMailOnce: an attempt whose outcome is written again, or late, counts once,
// and mail that was sent meanwhile stays so.
func TestPostponeMailOnce(t *testing.T) { onBoth(t, testPostponeMailOnce) }

func testPostponeMailOnce(s *subject) {
	start := s.Clock.Now()
	m := store.Mail{ID: "mai_1", OrgID: acme, To: "a", CreatedAt: start, DueAt: start}
	s.Write(func(tx store.Tx) error { return tx.PutMail(m) })
	first := s.postpone(m)
	s.Clock.Move(time.Second)
	s.Equal("due after the same attempt", s.postpone(m), first)
	s.Equal("attempts", s.Mails()[0].Attempts, 1)
	s.Write(func(tx store.Tx) error {
		err := tx.DeleteMail(m.ID)
		_, late := store.PostponeMail(tx, m, store.DefaultMailSchedule)
		s.Code("a mail that is gone", late, store.CodeNotFound)
		return err
	})
	s.Equal("mails", s.Mails(), []store.Mail{})
}

func (s *subject) postpone(m store.Mail) (next time.Time) {
	s.Helper()
	s.Write(func(tx store.Tx) (err error) {
		next, err = store.PostponeMail(tx, m, store.DefaultMailSchedule)
		return err
	})
	return next
}
