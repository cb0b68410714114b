package storetest

import (
	"errors"
	"fmt"
	"strings"

	"teamdata/store"
)

// likeIDs begin alike, in their order.
var likeIDs = []string{"A", "a", "a-", "a0", "aa", "b"}

// testRoles gives users roles in orgs, changes them and takes them away, on the
// store and on an oracle: both know the same of who manages what.
func testRoles(s *Subject) {
	roles := []string{"", store.RoleOwner, "guest", store.RoleAdmin, "Owner", store.RoleOwner}
	o := newOracle()
	for round := range 5 {
		s.Write(func(tx store.Tx) (err error) {
			for i, org := range likeIDs {
				for j, user := range likeIDs {
					m := store.Member{OrgID: org, ID: user, UserID: user, CreatedAt: someTime, Role: roles[(i+j+round*(j+1))%len(roles)]}
					if m.Role == "" {
						s.Code("deleting", tx.DeleteMember(org, user), store.CodeOf(o.DeleteMember(org, user)))
					} else {
						err = errors.Join(err, putMember(tx, m), o.PutMember(m))
					}
				}
			}
			return err
		})
		for range 2 {
			s.Read(func(tx store.Tx) error {
				s.Same(fmt.Sprint("roles in round ", round), showRoles(tx), showRoles(o))
				return nil
			})
			s.Reopen()
		}
	}
}

func showRoles(tx store.Members) string {
	b := new(strings.Builder)
	for _, name := range append(likeIDs, "a!") {
		line(b, "owners of "+name)(tx.CountOwners(name))
		line(b, "managers of "+name)(tx.Managers(name))
		line(b, "managed by "+name)(tx.ManagedOrgs(name))
	}
	return b.String()
}

// testAnyOrg: what a new store lacks is there from the first org on.
func testAnyOrg(s *Subject) {
	holds := func(when string, want bool) {
		s.Helper()
		s.Read(func(tx store.Tx) error {
			found, err := tx.AnyOrg()
			s.Equal("any org, "+when, found, want)
			return err
		})
	}
	holds("in a new store", false)
	for _, id := range []string{acme, other} {
		s.Write(func(tx store.Tx) error { return tx.PutOrg(store.Org{ID: id}) })
		holds("once there is "+id, true)
	}
	s.Reopen()
	holds("reopened", true)
}

// testLongInstructions keeps the longest text that the rules let through.
func testLongInstructions(s *Subject) {
	long := store.Instructions{Text: strings.Repeat("🚀", 64<<10), UpdatedAt: someTime, Set: true} // 256 KiB
	holds := func() {
		s.Read(func(tx store.Tx) error {
			got, err := tx.Instructions(acme)
			s.Equal("the long text is as it was", got == long, true)
			return err
		})
	}
	s.Write(func(tx store.Tx) error { return tx.PutInstructions(acme, long) })
	holds()
	s.Reopen()
	holds()
}
