package storetest

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"teamdata/store"
)

func testAccounts(s *Subject) {
	accounts := []store.Account{
		{UserID: "u"},
		{UserID: longID, Email: strings.Repeat("é", 127), PasswordHash: longText, PasswordAt: lastMs, CreatedAt: firstMs,
			Passkeys: []store.Passkey{{ID: longText, Name: unicode, Credential: bytes.Repeat([]byte{0, 255}, 5000), CreatedAt: firstMs, LastUsedAt: lastMs}, {ID: "p"}},
			Sessions: []string{"s", longID}},
		{UserID: "U", Email: unicode},
	}
	roundTrip(s, accounts, func(tx store.Tx, a store.Account) error { return tx.PutAccount(a) },
		func(tx store.Tx, a store.Account) (store.Account, error) { return tx.Account(a.UserID) })
	accounts[1].Email, accounts[1].Passkeys, accounts[1].Sessions = "", nil, nil
	s.Write(func(tx store.Tx) error { return tx.PutAccount(accounts[1]) })
	s.Equal("changed account", s.Account(longID), accounts[1])
	s.Write(func(tx store.Tx) error { return errors.Join(tx.DeleteAccount(longID), tx.DeleteAccount(longID)) })
	s.Read(func(tx store.Tx) error {
		_, err := tx.Account(longID)
		s.Code("deleted account", err, store.CodeNotFound)
		return nil
	})
	s.noAccounts("u", "U")
}

// noAccounts deletes accounts, for what manages no org may not stay.
func (s *Subject) noAccounts(users ...string) {
	s.Write(func(tx store.Tx) (err error) {
		for _, user := range users {
			err = errors.Join(err, tx.DeleteAccount(user))
		}
		return err
	})
}

// testAccountEmails: an address names one account, upper or lower case alike.
func testAccountEmails(s *Subject) {
	put := func(user, email string) func(store.Tx) error {
		return func(tx store.Tx) error { return tx.PutAccount(store.Account{UserID: user, Email: email}) }
	}
	finds := func(name, want string) {
		s.Helper()
		s.Read(func(tx store.Tx) error {
			a, err := store.FindAccount(tx, name)
			s.Equal("the account of "+name, a.UserID, want)
			s.Equal("it is found", err == nil, want != "")
			return nil
		})
	}
	s.Write(put("u", "Ada@Example.com"))
	s.Write(put("v", ""))
	s.Write(put("w", ""))
	for _, email := range []string{"Ada@Example.com", "ada@example.com", "ADA@EXAMPLE.COM"} {
		finds(email, "u")
		s.Code("another's address", s.Attempt(put("v", email)), store.CodeConflict)
		s.Write(func(tx store.Tx) error {
			s.Code("another's address, going on", put("v", email)(tx), store.CodeConflict)
			return nil
		})
		s.Write(put("u", email))
	}
	finds("", "")
	finds("u", "u")
	finds("U", "")
	s.Write(put("v", "v@example.com"))
	s.Write(put("v", "V@other.example"))
	finds("v@example.com", "")
	finds("v@OTHER.example", "v")
	s.Write(func(tx store.Tx) error {
		return errors.Join(put("u", "")(tx), put("w", "ada@example.com")(tx), tx.DeleteAccount("v"), put("u", "v@other.example")(tx))
	})
	s.Reopen()
	finds("Ada@example.com", "w")
	finds("v@other.example", "u")
	s.noAccounts("u", "w")
	finds("v@other.example", "")
}

func testSessionLists(s *Subject) {
	sessions := []store.Session{
		{ID: "s"},
		{ID: longID, UserID: longID, SecretHash: store.HashSecret("x"), UserAgent: unicode, CreatedAt: firstMs, LastSeenAt: lastMs},
	}
	roundTrip(s, sessions, func(tx store.Tx, v store.Session) error { return tx.PutSession(v) },
		func(tx store.Tx, v store.Session) (store.Session, error) { return tx.Session(v.ID) })
	links := []store.SignInLink{{ID: "l"}, {ID: longID, UserID: longID, SecretHash: store.HashSecret("x"), CreatedAt: firstMs, ExpiresAt: lastMs}}
	roundTrip(s, links, func(tx store.Tx, l store.SignInLink) error { return tx.PutSignInLink(l) },
		func(tx store.Tx, l store.SignInLink) (store.SignInLink, error) { return tx.SignInLink(l.ID) })
	s.Write(func(tx store.Tx) error {
		err := errors.Join(tx.DeleteSession("s"), tx.DeleteSession(longID), tx.DeleteSignInLink("l"), tx.DeleteSignInLink(longID))
		for _, id := range likeIDs {
			err = errors.Join(err, tx.PutSession(store.Session{ID: id, CreatedAt: someTime}), tx.PutSignInLink(store.SignInLink{ID: id}))
		}
		return err
	})
	s.walks("sessions", likeIDs, func(tx store.Tx, after string, limit int) (ids []string, err error) {
		list, err := tx.Sessions(after, limit)
		for _, v := range list {
			ids = append(ids, v.ID)
		}
		return ids, err
	})
	s.walks("links", likeIDs, func(tx store.Tx, after string, limit int) (ids []string, err error) {
		list, err := tx.SignInLinks(after, limit)
		for _, l := range list {
			ids = append(ids, l.ID)
		}
		return ids, err
	})
	s.Write(func(tx store.Tx) (err error) { // which no account has
		for _, id := range likeIDs {
			err = errors.Join(err, tx.DeleteSession(id))
		}
		return err
	})
}

// testKeyLastUsed: it is kept, and no Access depends on it.
func testKeyLastUsed(s *Subject) {
	s.Seed()
	s.Write(func(tx store.Tx) error { return createKey(tx, "key_1") })
	used := func() (at time.Time) {
		s.Read(func(tx store.Tx) (err error) {
			at, err = tx.KeyLastUsed("key_1")
			return err
		})
		return at
	}
	s.Equal("never used", used(), time.Time{})
	before := s.AccessGeneration()
	for _, at := range []time.Time{firstMs, someTime, lastMs} {
		s.Write(func(tx store.Tx) error { return tx.PutKeyLastUsed("key_1", at) })
		s.Equal("last used", used(), at)
		s.Equal("AccessGeneration", s.AccessGeneration(), before)
		s.Reopen()
		s.Equal("last used, reopened", used(), at)
		before = s.AccessGeneration()
	}
}
