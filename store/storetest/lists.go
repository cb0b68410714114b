package storetest

import (
	"fmt"

	"teamdata/store"
)

func appendMember(tx store.Tx, m store.Member) error {
	_, err := tx.AppendMember(m)
	return err
}

func testMembers(s *Subject) {
	first := store.Member{OrgID: acme, ID: longID, UserID: longID, Role: unicode, Name: longText, Email: unicode, CreatedAt: firstMs}
	second := store.Member{OrgID: acme, ID: "m", UserID: "u", Role: "r", CreatedAt: someTime}
	get := func(tx store.Tx, m store.Member) (store.Member, error) { return tx.Member(m.OrgID, m.UserID) }
	kind[store.Member]{name: "Members", put: appendMember, get: get}.roundTrip(s, []store.Member{second, first})
	s.Equal("list", s.Members(acme), string(first.AppendJSON(nil))+","+string(second.AppendJSON(nil)))

	second.Role, second.Name, second.Email = store.RoleAdmin, "new", "new@example.com"
	s.Write(func(tx store.Tx) error { return tx.PutMember(second) })
	s.Read(func(tx store.Tx) error {
		got, err := get(tx, second)
		s.Equal("changed member", got, second)
		return err
	})
	s.Equal("changed list", s.Members(acme), string(first.AppendJSON(nil))+","+string(second.AppendJSON(nil)))

	s.Write(func(tx store.Tx) error { return tx.DeleteMember(acme, longID) })
	s.Read(func(tx store.Tx) error {
		_, err := get(tx, first)
		s.Code("deleted member", err, store.CodeNotFound)
		return nil
	})
	s.Equal("list without the deleted", s.Members(acme), string(second.AppendJSON(nil)))
	err := s.Update(s.Context(), func(tx store.Tx) error { return tx.DeleteMember(acme, longID) })
	s.Code("deleting again", err, store.CodeNotFound)
	s.Write(func(tx store.Tx) error { return appendMember(tx, first) })
	s.Equal("list with the deleted back", s.Members(acme), string(first.AppendJSON(nil))+","+string(second.AppendJSON(nil)))
}

func testOwners(s *Subject) {
	owners := func(want int) {
		s.Helper()
		s.Read(func(tx store.Tx) error {
			n, err := tx.CountOwners(acme)
			s.Equal("owners", n, want)
			return err
		})
	}
	owners(0)
	put := func(user, role string) func(store.Tx) error {
		return func(tx store.Tx) error {
			m, err := tx.Member(acme, user)
			if store.IsNotFound(err) {
				return appendMember(tx, store.Member{OrgID: acme, UserID: user, Role: role})
			}
			m.Role = role
			return tx.PutMember(m)
		}
	}
	s.Write(put(ada, store.RoleOwner))
	s.Write(put(bob, store.RoleAdmin))
	s.Write(func(tx store.Tx) error {
		return appendMember(tx, store.Member{OrgID: other, UserID: ada, Role: store.RoleOwner})
	})
	owners(1)
	s.Write(put(bob, store.RoleOwner))
	owners(2)
	s.Write(put(bob, store.RoleOwner))
	owners(2)
	s.Write(put(ada, store.RoleMember))
	owners(1)
	s.Reopen()
	owners(1)
	s.Write(func(tx store.Tx) error { return tx.DeleteMember(acme, bob) })
	owners(0)
}

func testAuditLog(s *Subject) {
	entries := []store.AuditEntry{
		{OrgID: acme, ID: longID, ActorID: longText, Action: unicode, TargetID: unicode, CreatedAt: firstMs},
		{OrgID: acme, ID: "b", Action: longText, CreatedAt: someTime},
		{OrgID: acme, ID: "c", ActorID: ada, Action: "a", TargetID: "t", CreatedAt: someTime},
		{OrgID: acme, ID: "-", Action: "a", CreatedAt: lastMs},
	}
	want := ""
	for i, e := range entries {
		if i > 0 {
			want += ","
		}
		want += string(e.AppendJSON(nil))
	}
	for _, i := range []int{2, 0, 3, 1} {
		s.Write(func(tx store.Tx) error {
			got, err := tx.AppendAudit(entries[i])
			s.Equal("entry", got, entries[i])
			return err
		})
	}
	s.Equal("log", s.AuditLog(acme), want)
	s.Reopen()
	s.Equal("log after reopening", s.AuditLog(acme), want)
}

// testOrgsDoNotMix has orgs whose ids begin alike.
func testOrgsDoNotMix(s *Subject) {
	orgs := []string{"a", "a-", "a0", "aa", "A", "a_", "b"}
	s.Write(func(tx store.Tx) error {
		for i, org := range orgs {
			for range i + 1 {
				if _, err := tx.AppendAudit(store.AuditEntry{OrgID: org, Action: "of " + org}); err != nil {
					return err
				}
			}
			if err := appendMember(tx, store.Member{OrgID: org, UserID: ada, Role: store.RoleOwner, Name: org}); err != nil {
				return err
			}
			if _, err := tx.AddEndpoint(newEndpoint(org, "whe_"+org)); err != nil {
				return err
			}
		}
		return nil
	})
	for i, org := range orgs {
		s.Read(func(tx store.Tx) error {
			log, err := tx.AuditPage(org, store.Cursor{}, 100, nil)
			s.Equal("entries of "+org, log.Count, i+1)
			s.Equal("more of "+org, log.More, false)
			members, _ := tx.MemberPage(org, store.Cursor{}, 100, nil)
			s.Equal("members of "+org, members.Count, 1)
			m, _ := tx.Member(org, ada)
			s.Equal("ada of "+org, m.Name, org)
			owners, _ := tx.CountOwners(org)
			s.Equal("owners of "+org, owners, 1)
			endpoints, _ := tx.Endpoints(org)
			s.Equal("endpoints of "+org, fmt.Sprint(len(endpoints), " ", endpoints[0].ID), "1 whe_"+org)
			_, notThere := tx.Endpoint(org, "whe_"+orgs[(i+1)%len(orgs)])
			s.Code("another org's endpoint", notThere, store.CodeNotFound)
			return err
		})
	}
}
