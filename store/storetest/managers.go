package storetest

import "teamdata/store"

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
