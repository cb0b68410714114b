package storetest

import (
	"fmt"
	"time"

	"teamdata/store"
)

func testMails(s *Subject) {
	s.Equal("mails of a new store", s.Mails(), []store.Mail{})
	var mails []store.Mail
	s.Write(func(tx store.Tx) error {
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
	s.Equal("mails, oldest first", s.Mails(), mails)
	s.Reopen()
	s.Equal("mails, reopened", s.Mails(), mails)
	for limit := 1; limit <= len(mails)+1; limit++ {
		s.Equal(fmt.Sprintf("mails by %d", limit), s.mailsBy(limit), mails)
	}

	mails[3].To, mails[3].Attempts = "changed", 2
	s.Write(func(tx store.Tx) error { return tx.PutMail(mails[3]) })
	s.Equal("mails, one changed", s.Mails(), mails)
	s.Write(func(tx store.Tx) error { return tx.DeleteMail(mails[1].ID) })
	s.Read(func(tx store.Tx) error {
		rest, err := tx.Mails(mails[1].ID, 2)
		s.Equal("mails after one that is gone", rest, mails[2:4])
		return err
	})
	s.Equal("mails, one deleted", s.Mails(), append(mails[:1:1], mails[2:]...))
	s.mailIDsRise()
}

// mailsBy lists all mails by pages.
func (s *Subject) mailsBy(limit int) (all []store.Mail) {
	s.Helper()
	for after := ""; ; {
		var page []store.Mail
		s.Read(func(tx store.Tx) (err error) {
			page, err = tx.Mails(after, limit)
			return err
		})
		if len(page) == 0 || page[len(page)-1].ID <= after {
			return append(all, page...)
		}
		s.Equal("mails on a page are at most as many as asked for", len(page) <= limit, true)
		all, after = append(all, page...), page[len(page)-1].ID
	}
}

// mailIDsRise: also when the store is opened again with a clock that stepped
// back, a new mail is behind all others.
func (s *Subject) mailIDsRise() {
	s.Helper()
	all := s.Mails()
	last := all[len(all)-1].ID
	s.Clock.Move(-24 * time.Hour)
	s.Reopen()
	s.Write(func(tx store.Tx) error {
		if id := tx.NewID(store.PrefixMail); id <= last {
			s.Errorf("the id %s does not follow %s", id, last)
		}
		return nil
	})
}
