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
	s.refused("a link to show of one who sees another org", store.CodeConflict, showLink(acme, bob))
}

// A link that another member gets to see is for who never signed in, and makes no
// account that is found by an address.
func TestLinkToShow(t *testing.T) { onBoth(t, testLinkToShow) }

func testLinkToShow(s *subject) {
	s.Write(storetest.Fill)
	s.refused("of one who signed in", store.CodeConflict, showLink(acme, bob))
	s.refused("of no member", store.CodeNotFound, showLink(acme, "usr_none"))
	s.Write(func(tx store.Tx) error {
		return addMember(tx, store.Member{OrgID: acme, UserID: "usr_new", Role: store.RoleViewer, Email: "new@example.com"})
	})
	var token string
	for range 2 {
		s.Write(func(tx store.Tx) (err error) {
			token, err = store.LinkToShow(tx, acme, "usr_new", time.Hour)
			return err
		})
	}
	s.Read(func(tx store.Tx) error {
		_, err := tx.AccountByEmail("new@example.com")
		s.Code("the account by its address", err, store.CodeNotFound)
		return nil
	})
	s.Clock.Move(time.Millisecond)
	s.Write(useLink(token))
	s.refused("of one who signed in by it", store.CodeConflict, showLink(acme, "usr_new"))
}

func showLink(org, user string) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.LinkToShow(tx, org, user, time.Hour)) }
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
