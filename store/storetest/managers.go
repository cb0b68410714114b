package storetest

import (
	"errors"

	"teamdata/store"
)

// testManagers has roles change to and from those that manage.
func testManagers(s *Subject) {
	s.Equal("managers of no org", s.Managers(), []string{})
	s.Seed()
	s.Write(addPeople)
	owner, admin := " "+store.RoleOwner, " "+store.RoleAdmin
	s.Equal("managers", s.Managers(), []string{"usr_1" + owner, "usr_2" + admin, "usr_3" + admin, ada + owner})
	for _, c := range []struct {
		user, role string
		want       []string
	}{
		{"usr_2", store.RoleMember, []string{"usr_1" + owner, "usr_3" + admin, ada + owner}},
		{"usr_3", store.RoleOwner, []string{"usr_1" + owner, "usr_3" + owner, ada + owner}},
		{"usr_1", store.RoleAdmin, []string{"usr_1" + admin, "usr_3" + owner, ada + owner}},
		{"usr_4", store.RoleAdmin, []string{"usr_1" + admin, "usr_3" + owner, "usr_4" + admin, ada + owner}},
		{"usr_5", "Owner", []string{"usr_1" + admin, "usr_3" + owner, "usr_4" + admin, ada + owner}},
		{ada, "guest", []string{"usr_1" + admin, "usr_3" + owner, "usr_4" + admin}},
		{"usr_1", "guest", []string{"usr_3" + owner, "usr_4" + admin}},
	} {
		s.Write(func(tx store.Tx) error { return changeRole(tx, "", acme, c.user, c.role) })
		s.Equal("managers once "+c.user+" is "+c.role, s.Managers(), c.want)
	}
	s.Reopen()
	s.Equal("managers, reopened", s.Managers(), []string{"usr_3" + owner, "usr_4" + admin})
	s.Write(func(tx store.Tx) error { return store.RemoveMember(tx, "", acme, "usr_4") })
	s.Equal("managers once one is removed", s.Managers(), []string{"usr_3" + owner})
}

// testManagedOrgs: orgs and users whose ids begin alike.
func testManagedOrgs(s *Subject) {
	managed := func(user string) (orgs []string) {
		s.Read(func(tx store.Tx) (err error) {
			orgs, err = tx.ManagedOrgs(user)
			return err
		})
		return orgs
	}
	for i, org := range likeIDs {
		s.Write(func(tx store.Tx) (err error) {
			for j, user := range likeIDs {
				role := []string{store.RoleOwner, "guest", store.RoleAdmin}[(i+j)%3]
				err = errors.Join(err, appendMember(tx, store.Member{OrgID: org, UserID: user, Role: role, CreatedAt: someTime, ID: user}))
			}
			return err
		})
	}
	s.Equal("of a", managed("a"), []string{"a", "a-", "aa", "b"})
	s.Equal("of a-", managed("a-"), []string{"A", "a", "a0", "aa"})
	s.Equal("of nobody", managed("a!"), []string{})
	s.Write(func(tx store.Tx) error {
		return errors.Join(tx.DeleteMember("a0", "a"), tx.DeleteMember("a0", "a-"),
			tx.PutMember(store.Member{OrgID: "b", UserID: "a", Role: "guest", CreatedAt: someTime, ID: "a"}),
			tx.PutMember(store.Member{OrgID: "A", UserID: "a", Role: store.RoleAdmin, CreatedAt: someTime, ID: "a"}))
	})
	for range 2 {
		s.Equal("of a, changed", managed("a"), []string{"A", "a", "a-", "aa"})
		s.Equal("of a-, changed", managed("a-"), []string{"A", "a", "aa"})
		s.Equal("of aa", managed("aa"), []string{"a", "a-", "aa", "b"})
		s.Reopen()
	}
}
