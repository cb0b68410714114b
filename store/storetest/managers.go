package storetest

import (
	"errors"

	"teamdata/store"
)

// managers are the user ids of acme's managers, with their roles.
func (s *subject) managers() (list []string) {
	s.Helper()
	s.view(func(tx store.Tx) error {
		managers, err := tx.Managers(acme)
		for _, m := range managers {
			whole, err := tx.Member(acme, m.UserID)
			s.equal("a manager", m, whole)
			s.code("a manager", err, "")
			list = append(list, m.UserID+" "+m.Role)
		}
		return err
	})
	return list
}

// testManagers has roles change to and from those that manage.
func testManagers(s *subject) {
	s.equal("managers of no org", s.managers(), []string{})
	s.seed()
	s.update(addPeople)
	owner, admin := " "+store.RoleOwner, " "+store.RoleAdmin
	s.equal("managers", s.managers(), []string{"usr_1" + owner, "usr_2" + admin, "usr_3" + admin, ada + owner})
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
		s.update(func(tx store.Tx) error { return changeRole(tx, "", acme, c.user, c.role) })
		s.equal("managers once "+c.user+" is "+c.role, s.managers(), c.want)
	}
	s.reopen()
	s.equal("managers, reopened", s.managers(), []string{"usr_3" + owner, "usr_4" + admin})
	s.update(func(tx store.Tx) error { return store.RemoveMember(tx, "", acme, "usr_4") })
	s.equal("managers once one is removed", s.managers(), []string{"usr_3" + owner})
}

// testManagedOrgs: orgs and users whose ids begin alike.
func testManagedOrgs(s *subject) {
	managed := func(user string) (orgs []string) {
		s.view(func(tx store.Tx) (err error) {
			orgs, err = tx.ManagedOrgs(user)
			return err
		})
		return orgs
	}
	for i, org := range likeIDs {
		s.update(func(tx store.Tx) (err error) {
			for j, user := range likeIDs {
				role := []string{store.RoleOwner, "guest", store.RoleAdmin}[(i+j)%3]
				err = errors.Join(err, appendMember(tx, store.Member{OrgID: org, UserID: user, Role: role, CreatedAt: someTime, ID: user}))
			}
			return err
		})
	}
	s.equal("of a", managed("a"), []string{"a", "a-", "aa", "b"})
	s.equal("of a-", managed("a-"), []string{"A", "a", "a0", "aa"})
	s.equal("of nobody", managed("a!"), []string{})
	s.update(func(tx store.Tx) error {
		return errors.Join(tx.DeleteMember("a0", "a"), tx.DeleteMember("a0", "a-"),
			tx.PutMember(store.Member{OrgID: "b", UserID: "a", Role: "guest", CreatedAt: someTime, ID: "a"}),
			tx.PutMember(store.Member{OrgID: "A", UserID: "a", Role: store.RoleAdmin, CreatedAt: someTime, ID: "a"}))
	})
	for range 2 {
		s.equal("of a, changed", managed("a"), []string{"A", "a", "a-", "aa"})
		s.equal("of a-, changed", managed("a-"), []string{"A", "a", "aa"})
		s.equal("of aa", managed("aa"), []string{"a", "a-", "aa", "b"})
		s.reopen()
	}
}
