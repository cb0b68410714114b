package storetest

import (
	"fmt"
	"time"

	"teamdata/store"
)

func testMails(s *subject) {
	s.equal("mails of a new store", s.mails(), []store.Mail{})
	var mails []store.Mail
	s.update(func(tx store.Tx) error {
		for i := range 7 {
			m := store.Mail{ID: tx.NewID(store.PrefixMail), OrgID: acme, To: fmt.Sprint(i), CreatedAt: tx.Now(), DueAt: tx.Now()}
			mails = append(mails, m)
		}
		mails[2] = store.Mail{
			ID: mails[2].ID, OrgID: longID, To: unicode, Name: longText, Template: unicode, Attempts: 1 << 30,
			Values: map[string]string{"": "", "a": unicode, longText: "b"}, CreatedAt: firstMs, DueAt: lastMs,
		}
		for _, i := range []int{4, 0, 6, 2, 1, 5, 3} {
			if err := tx.PutMail(mails[i]); err != nil {
				return err
			}
		}
		return nil
	})
	s.equal("mails, oldest first", s.mails(), mails)
	s.reopen()
	s.equal("mails, reopened", s.mails(), mails)
	for limit := 1; limit <= len(mails)+1; limit++ {
		s.equal(fmt.Sprintf("mails by %d", limit), s.mailsBy(limit), mails)
	}

	mails[3].To, mails[3].Attempts = "changed", 2
	s.update(func(tx store.Tx) error { return tx.PutMail(mails[3]) })
	s.equal("mails, one changed", s.mails(), mails)
	s.update(func(tx store.Tx) error { return tx.DeleteMail(mails[1].ID) })
	s.view(func(tx store.Tx) error {
		rest, err := tx.Mails(mails[1].ID, 2)
		s.equal("mails after one that is gone", rest, mails[2:4])
		return err
	})
	s.equal("mails, one deleted", s.mails(), append(mails[:1:1], mails[2:]...))
	s.mailIDsRise()
}

// mailsBy lists all mails by pages.
func (s *subject) mailsBy(limit int) (all []store.Mail) {
	s.Helper()
	for after := ""; ; {
		var page []store.Mail
		s.view(func(tx store.Tx) (err error) {
			page, err = tx.Mails(after, limit)
			return err
		})
		if len(page) == 0 || page[len(page)-1].ID <= after {
			return append(all, page...)
		}
		s.equal("mails on a page are at most as many as asked for", len(page) <= limit, true)
		all, after = append(all, page...), page[len(page)-1].ID
	}
}

// mailIDsRise: also when the store is opened again with a clock that stepped
// back, a new mail is behind all others.
func (s *subject) mailIDsRise() {
	s.Helper()
	all := s.mails()
	last := all[len(all)-1].ID
	s.clock.move(-24 * time.Hour)
	s.reopen()
	s.update(func(tx store.Tx) error {
		if id := tx.NewID(store.PrefixMail); id <= last {
			s.Errorf("the id %s does not follow %s", id, last)
		}
		return nil
	})
}

// testPostponeMail has a mail fail again and again, each time when it is due.
func testPostponeMail(s *subject) {
	start := s.clock.now()
	m := store.Mail{ID: "mai_1", OrgID: acme, To: "a", CreatedAt: start, DueAt: start}
	s.update(func(tx store.Tx) error { return tx.PutMail(m) })
	pauses := []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute}
	for range 35 { // 35 times two hours and 31 minutes are the last that fit 72 hours
		pauses = append(pauses, 2*time.Hour)
	}
	for i, pause := range pauses {
		next := s.postpone(m)
		s.equal(fmt.Sprintf("due after try %d", i+1), next, s.clock.now().Add(pause))
		m.Attempts, m.DueAt = i+1, next
		s.equal(fmt.Sprintf("the mail after try %d", i+1), s.mails(), []store.Mail{m})
		s.clock.move(pause)
	}
	s.equal("given up after the last", s.postpone(m), time.Time{})
	s.equal("mails", s.mails(), []store.Mail{})

	m.CreatedAt = s.clock.now().Add(2*time.Hour - store.MailTTL)
	s.equal("due at the end of its time", s.postpone(m), s.clock.now().Add(2*time.Hour))
	m.CreatedAt = m.CreatedAt.Add(-time.Millisecond)
	s.equal("given up behind the end", s.postpone(m), time.Time{})
}

func (s *subject) postpone(m store.Mail) (next time.Time) {
	s.Helper()
	s.update(func(tx store.Tx) (err error) {
		next, err = store.PostponeMail(tx, m, store.DefaultMailSchedule)
		return err
	})
	return next
}
