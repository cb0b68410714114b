package store_test

import (
	"errors"
	"testing"

	"teamdata/store"
)

// TestAccountEmails: an address names one account, upper or lower case alike.
func TestAccountEmails(t *testing.T) { onBoth(t, testAccountEmails) }

func testAccountEmails(s *subject) {
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
	s.Write(func(tx store.Tx) error { return errors.Join(tx.DeleteAccount("u"), tx.DeleteAccount("w")) })
	finds("v@other.example", "")
}
