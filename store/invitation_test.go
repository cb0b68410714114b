package store_test

import (
	"strings"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/storetest"
)

func TestInvite(t *testing.T) { onBoth(t, testInvite) }

func testInvite(s *subject) {
	s.Write(storetest.Fill)
	invite := func(role, email string) func(store.Tx) error {
		return func(tx store.Tx) error {
			_, err := store.Invite(tx, ada, store.Member{OrgID: acme, Role: role, Name: "Nina", Email: email})
			return err
		}
	}
	for what, row := range map[string]struct {
		code store.Code
		rule func(store.Tx) error
	}{
		"a role that signs in nowhere": {store.CodeBadRequest, invite(store.RoleMember, "nina@example.com")},
		"no role":                      {store.CodeBadRequest, invite("", "nina@example.com")},
		"no address":                   {store.CodeBadRequest, invite(store.RoleAdmin, "")},
		"another address":              {store.CodeBadRequest, invite(store.RoleAdmin, "Nina <nina@example.com>")},
		"who is a member":              {store.CodeConflict, invite(store.RoleAdmin, "BOB@example.com")},
	} {
		s.refused("invite "+what, row.code, row.rule)
	}
	s.Write(invite(store.RoleViewer, "nina@example.com"))
	nina := s.memberWith("nina@example.com")
	s.Equal("the role", nina.Role, store.RoleViewer)
	if !store.ValidID(nina.UserID) || !strings.HasPrefix(nina.UserID, store.PrefixUser) {
		s.Errorf("the user id is %q", nina.UserID)
	}
	for _, email := range []string{"NINA@example.com", "Bob@example.com"} {
		s.Code("an address that is there", store.CheckInvited(s.Context(), s.Store, acme, email), store.CodeConflict)
	}
	for _, email := range []string{"other@example.com", ""} {
		s.Code("an address that isn't", store.CheckInvited(s.Context(), s.Store, acme, email), "")
	}
}

// Who has an account keeps the user id in another org.
func TestInviteToAnotherOrg(t *testing.T) { onBoth(t, testInviteToAnotherOrg) }

func testInviteToAnotherOrg(s *subject) {
	s.Write(storetest.Fill)
	s.Write(func(tx store.Tx) error {
		m, err := store.Invite(tx, eve, store.Member{OrgID: other, Role: store.RoleViewer, Email: "bob@EXAMPLE.com"})
		s.Equal("the user", m.UserID, bob)
		return err
	})
	s.refused("a link to show of one who sees another org", store.CodeConflict, showLink(acme, bob, ""))
}

// A link that another member gets to see is for who never signed in, and gives the account
// a sign-in name.
func TestLinkToShow(t *testing.T) { onBoth(t, testLinkToShow) }

func testLinkToShow(s *subject) {
	s.Write(storetest.Fill)
	s.refused("of one who signed in", store.CodeConflict, showLink(acme, bob, ""))
	s.refused("of no member", store.CodeNotFound, showLink(acme, "usr_none", ""))
	s.Write(viewer("usr_new", "n+e.w@example.com"))
	var token string
	for _, name := range []string{"", "another"} { // the name stays
		s.Write(func(tx store.Tx) (err error) {
			token, err = store.LinkToShow(tx, acme, "usr_new", name, time.Hour)
			return err
		})
	}
	s.findsAccount("usr_new", "NE.W", "ne.w", "N+E.W@example.com", "usr_new")
	s.findsAccount("", "another")
	s.Clock.Move(time.Millisecond)
	s.Write(useLink(token))
	s.refused("of one who signed in by it", store.CodeConflict, showLink(acme, "usr_new", ""))
}

// A sign-in name is of one account, whatever its case, and of no user id. It is free again
// with the account.
func TestSignInNames(t *testing.T) { onBoth(t, testSignInNames) }

func testSignInNames(s *subject) {
	s.Write(storetest.Fill)
	for i, user := range []string{"usr_nina", "usr_nina2", "Nina3"} {
		s.Write(viewer(user, "nina@example"+string(rune('0'+i))+".com"))
	}
	s.Write(showLink(acme, "usr_nina", "Nina_P"))
	for name, code := range map[string]store.Code{
		"nina_p": store.CodeConflict, "Nina_P": store.CodeConflict, bob: store.CodeConflict, "Nina3": store.CodeConflict,
		"nina@x": store.CodeBadRequest, "ni na": store.CodeBadRequest, "nïna": store.CodeBadRequest, strings.Repeat("n", 65): store.CodeBadRequest,
	} {
		s.refused(name, code, showLink(acme, "usr_nina2", name))
	}
	s.Write(showLink(acme, "usr_nina2", "")) // by default nina, which nobody has
	s.Write(showLink(acme, "Nina3", ""))     // nina is taken, so there is the user id alone
	s.findsAccount("usr_nina2", "nina", "NINA", "nina@example1.com")
	s.findsAccount("Nina3", "Nina3")
	s.findsAccount("", "nina@example2.com")

	// A user id that comes later leaves the name to whom it belongs.
	s.Write(viewer("NINA_P", ""))
	s.Write(func(tx store.Tx) error {
		_, _, err := store.CreateSignInLink(tx, acme, "NINA_P", time.Hour)
		return err
	})
	s.findsAccount("usr_nina", "Nina_P", "nina_p")
	s.findsAccount("NINA_P", "NINA_P")

	s.Write(func(tx store.Tx) error { return store.RemoveMember(tx, ada, acme, "usr_nina") })
	s.findsAccount("", "Nina_P", "nina@example0.com")
	s.Write(showLink(acme, "usr_nina2", "unused"))
	s.Write(viewer("usr_next", ""))
	s.Write(showLink(acme, "usr_next", "Nina_p"))
	s.Reopen()
	s.findsAccount("usr_next", "nina_P")
}

// An address that nobody has proven signs in, and leads no other org to its account. Whoever
// is sent mail there gets it.
func TestAddressOfASignInName(t *testing.T) { onBoth(t, testAddressOfASignInName) }

func testAddressOfASignInName(s *subject) {
	s.Write(storetest.Fill)
	s.Write(viewer("usr_first", "nina@example.com"))
	s.Write(showLink(acme, "usr_first", "nina"))
	s.findsAccount("usr_first", "nina@example.com")
	var elsewhere string
	s.Write(func(tx store.Tx) error {
		m, err := store.Invite(tx, eve, store.Member{OrgID: other, Role: store.RoleAdmin, Email: "nina@EXAMPLE.com"})
		if err != nil {
			return err
		}
		elsewhere = m.UserID
		_, err = store.LinkToShow(tx, other, elsewhere, "nina-2", time.Hour)
		return err
	})
	s.findsAccount("usr_first", "nina@example.com", "nina")
	s.findsAccount(elsewhere, "nina-2")
	s.Equal("another user", elsewhere != "usr_first", true)

	s.Write(viewer("usr_mailed", "nina@example.com"))
	s.Write(func(tx store.Tx) error { return second(store.QueueSignInLink(tx, acme, "usr_mailed", time.Hour)) })
	s.findsAccount("usr_mailed", "nina@example.com")
	s.findsAccount("usr_first", "nina")
	s.Write(showLink(acme, "usr_first", ""))
	s.findsAccount("usr_mailed", "nina@example.com")
}

func viewer(user, email string) func(store.Tx) error {
	return func(tx store.Tx) error {
		return addMember(tx, store.Member{OrgID: acme, UserID: user, Role: store.RoleViewer, Email: email})
	}
}

// findsAccount checks whose account is found by each of some names; empty: nobody's.
func (s *subject) findsAccount(user string, names ...string) {
	s.Helper()
	s.Read(func(tx store.Tx) error {
		for _, name := range names {
			a, err := store.FindAccount(tx, name)
			s.Equal("the account of "+name, a.UserID, user)
			s.Equal(name+" is found", err == nil, user != "")
		}
		return nil
	})
}

func showLink(org, user, name string) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.LinkToShow(tx, org, user, name, time.Hour)) }
}

func TestCheckGivesRole(t *testing.T) {
	for _, row := range []struct{ by, from, to, refused string }{
		{store.RoleOwner, "", store.RoleOwner, ""},
		{store.RoleOwner, store.RoleOwner, "", ""},
		{store.RoleAdmin, "", store.RoleAdmin, ""},
		{store.RoleAdmin, store.RoleViewer, "", ""},
		{store.RoleAdmin, store.RoleViewer, store.RoleOwner, "an owner"},
		{store.RoleAdmin, store.RoleOwner, store.RoleAdmin, "an owner"},
		{store.RoleAdmin, store.RoleOwner, "", "an owner"},
		{store.RoleViewer, "", store.RoleViewer, "Only owners and admins"},
		{"", "", store.RoleViewer, "Only owners and admins"},
	} {
		err := store.CheckGivesRole(store.Member{Role: row.by}, row.from, row.to)
		if (err != nil) != (row.refused != "") || err != nil && !strings.Contains(err.Error(), row.refused) {
			t.Errorf("%+v: %v", row, err)
		}
	}
}

// memberWith is the member of acme with an address.
func (s *subject) memberWith(email string) (found store.Member) {
	s.Helper()
	s.Read(func(tx store.Tx) error {
		_, members, err := tx.ListMembers(acme, store.Cursor{}, 100)
		for _, m := range members {
			if m.Email == email {
				found = m
			}
		}
		return err
	})
	return found
}
