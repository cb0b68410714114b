package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/storetest"
)

func TestMemberRules(t *testing.T) { onBoth(t, testMemberRules) }

func testMemberRules(s *subject) {
	s.Seed()
	bobs := store.Member{OrgID: acme, ID: "mem_bob", UserID: bob, Role: store.RoleMember}
	data := map[string]any{"orgId": acme, "memberId": "mem_bob", "userId": bob, "role": store.RoleMember}
	s.Equal("member added", s.after(func(tx store.Tx) error { return addMember(tx, bobs) }),
		one("member.added", sent{"member.added", data}))
	s.Code("added again", s.Attempt(func(tx store.Tx) error { return addMember(tx, bobs) }), store.CodeConflict)

	s.Equal("role changed", s.after(func(tx store.Tx) error { return changeRole(tx, ada, acme, bob, store.RoleAdmin) }),
		one("member.roleChanged", memberChanged(store.RoleAdmin, "", "", "role", store.RoleMember)))
	s.Read(func(tx store.Tx) error {
		m, err := tx.Member(acme, bob)
		s.Equal("role", m.Role, store.RoleAdmin)
		return err
	})

	data["role"] = store.RoleAdmin
	s.Equal("member removed", s.after(func(tx store.Tx) error { return store.RemoveMember(tx, "", acme, bob) }),
		one("member.removed", sent{"member.removed", data}))
	gone := func(tx store.Tx) error { return store.RemoveMember(tx, "", acme, bob) }
	s.Code("removed again", s.Attempt(gone), store.CodeNotFound)
	s.Equal("nothing of the refused", s.after(func(store.Tx) error { return nil }), effects{})
}

func TestLastOwner(t *testing.T) { onBoth(t, testLastOwner) }

func testLastOwner(s *subject) {
	s.Seed()
	remove := func(tx store.Tx) error { return store.RemoveMember(tx, ada, acme, ada) }
	demote := func(tx store.Tx) error { return changeRole(tx, ada, acme, ada, store.RoleAdmin) }
	before := s.Dump()
	s.Code("removing the last owner", s.Attempt(remove), store.CodeConflict)
	s.Code("demoting the last owner", s.Attempt(demote), store.CodeConflict)
	s.Code("leaving the last owner an owner", s.Attempt(func(tx store.Tx) error {
		return errors.Join(changeRole(tx, ada, acme, ada, store.RoleOwner), errFailing)
	}), store.CodeInternal)
	s.Same("after it", s.Dump(), before)
	s.Write(func(tx store.Tx) error {
		return addMember(tx, store.Member{OrgID: acme, UserID: bob, Role: store.RoleOwner})
	})
	s.Write(demote)
	s.Code("demoting the owner who is left", s.Attempt(func(tx store.Tx) error {
		return changeRole(tx, ada, acme, bob, store.RoleMember)
	}), store.CodeConflict)
	s.Write(func(tx store.Tx) error { return store.RemoveMember(tx, ada, acme, ada) })
}

// A batch may demote the last owner before it names the next one.
func TestLastOwnerInABatch(t *testing.T) { onBoth(t, testLastOwnerInABatch) }

func testLastOwnerInABatch(s *subject) {
	s.Seed()
	batch := func(usersAndRoles ...string) (failed int, err error) {
		err = s.Attempt(func(tx store.Tx) error {
			var members []store.MemberValues
			for pair := range slices.Chunk(usersAndRoles, 2) {
				members = append(members, store.MemberValues{UserID: pair[0], MemberChange: store.MemberChange{Role: &pair[1]}})
			}
			_, failed, err = store.PutMembers(tx, ada, acme, members)
			return err
		})
		return failed, err
	}
	before := s.Dump()
	for i, none := range [][]string{
		{ada, "admin", bob, "admin"}, {bob, "guest", ada, "admin"}, {bob, "owner", ada, "admin", bob, "guest"},
	} {
		failed, err := batch(none...)
		s.Code("no owner is left", err, store.CodeConflict)
		s.Equal("the last who was demoted", failed, i)
		s.Same("after it", s.Dump(), before)
	}
	_, err := batch(ada, "member", bob, "admin", "usr_cyn", "owner", bob, "owner")
	s.Code("others become owners later in the batch", err, "")
	s.Equal("managers", s.Managers(), []string{"usr_bob owner", "usr_cyn owner"})
	failed, err := batch(bob, "owner", "usr_cyn", "")
	s.Code("a role that is none", err, store.CodeBadRequest)
	s.Equal("its place", failed, 1)
}

func TestChangeMember(t *testing.T) { onBoth(t, testChangeMember) }

func testChangeMember(s *subject) {
	s.Seed()
	s.Write(func(tx store.Tx) error {
		return addMember(tx, store.Member{OrgID: acme, ID: "mem_bob", UserID: bob, Role: store.RoleMember, Name: "Bob", Email: "bob@acme.example"})
	})
	s.claimAll()
	text := func(t string) *string { return &t }
	const kept, promoted = "member.changed mem_bob", "member.roleChanged mem_bob"
	s.does("another name", changeMember(acme, bob, store.MemberChange{Name: text(longText)}),
		one(kept, memberChanged("member", longText, "bob@acme.example", "name", "Bob")))
	s.does("another address", changeMember(acme, bob, store.MemberChange{Email: text("b@acme.example")}),
		one(kept, memberChanged("member", longText, "b@acme.example", "email", "bob@acme.example")))
	s.does("another role", changeMember(acme, bob, store.MemberChange{Role: text(store.RoleAdmin)}),
		one(promoted, memberChanged("admin", longText, "b@acme.example", "role", "member")))
	s.does("a role and a name", changeMember(acme, bob, store.MemberChange{Role: text(store.RoleOwner), Name: text("")}),
		one(promoted, memberChanged("owner", "", "b@acme.example", "role", "admin", "name", longText)))
	s.Equal("the member", strings.Contains(s.DumpOrg(acme), "UserID:usr_bob Role:owner Name: Email:b@acme.example"), true)
	s.Equal("managers", s.Managers(), []string{"usr_ada owner", "usr_bob owner"})
	ownRole, address := strings.Repeat("é", 64), strings.Repeat("é", 120)+"@acme.example"
	s.does("a role of the org's own", changeMember(acme, bob, store.MemberChange{Role: &ownRole}),
		one(promoted, memberChanged(ownRole, "", "b@acme.example", "role", "owner")))
	s.does("the longest address", changeMember(acme, bob, store.MemberChange{Email: &address}),
		one(kept, memberChanged(ownRole, "", address, "email", "b@acme.example")))
	s.changesNothing("nothing given", changeMember(acme, bob, store.MemberChange{}))
	s.changesNothing("the same", changeMember(acme, bob, store.MemberChange{Role: &ownRole, Name: text("")}))
	for what, bad := range map[string]store.MemberChange{
		"no role": {Role: text("")}, "a long role": {Role: text(tooLong(64))}, "a long name": {Name: text(tooLong(200))},
		"a long address": {Email: text(strings.Repeat("é", 121) + "@acme.example")}, "no UTF-8": {Name: text("\xff")},
	} {
		s.refused(what, store.CodeBadRequest, changeMember(acme, bob, bad))
	}
	s.refused("demoting the last owner", store.CodeConflict, changeMember(acme, ada, store.MemberChange{Role: text("admin"), Name: text("Ada")}))
	s.refused("no member", store.CodeNotFound, changeMember(acme, "usr_none", store.MemberChange{Name: text("x")}))
	s.refused("another org's member", store.CodeNotFound, changeMember(other, bob, store.MemberChange{Name: text("x")}))
	s.Write(changeMember(acme, ada, store.MemberChange{Role: text(store.RoleOwner), Name: text("Ada")}))
	s.Equal("the last owner's name", strings.Contains(s.DumpOrg(acme), "Role:owner Name:Ada"), true)
}

// Each member that a batch changes makes one event, and one that it leaves as it is none.
// Only endpoints that select the event are sent it.
func TestChangedMembersInABatch(t *testing.T) { onBoth(t, testChangedMembersInABatch) }

func testChangedMembersInABatch(s *subject) {
	s.Seed()
	s.Write(func(tx store.Tx) error {
		return addMember(tx, store.Member{OrgID: acme, ID: "mem_bob", UserID: bob, Role: store.RoleMember})
	})
	s.claimAll()
	put := func(tx store.Tx) error {
		_, _, err := store.PutMembers(tx, ada, acme, []store.MemberValues{
			{UserID: ada, MemberChange: store.MemberChange{Role: new(store.RoleOwner)}},
			{UserID: bob, MemberChange: store.MemberChange{Role: new(store.RoleAdmin)}},
			{UserID: bob, MemberChange: store.MemberChange{Role: new(store.RoleAdmin), Name: new("")}},
			{UserID: "usr_cyn", MemberChange: store.MemberChange{Role: new(store.RoleMember), Name: new("Cyn")}},
		})
		return err
	}
	got := s.after(put)
	s.Equal("audit entries", got.actions, []string{"member.roleChanged", "member.added"})
	s.Equal("events", len(got.events), 2)
	s.Equal("the event of the member who changed", got.events[0], memberChanged(store.RoleAdmin, "", "", "role", store.RoleMember))
	s.Equal("that of the new member", got.events[1].Type, store.EventMemberAdded)
	s.changesNothing("the same batch", put)

	s.Write(selecting(store.EventMemberAdded, store.EventMemberRemoved, store.EventFileUploaded))
	s.Equal("an endpoint that does not select it", s.after(changeMember(acme, bob, store.MemberChange{Name: new("Bob")})), one("member.changed"))
	s.Write(selecting("member.*"))
	s.Equal("one that selects the group", s.after(changeMember(acme, bob, store.MemberChange{Name: new("Rob")})),
		one("member.changed", memberChanged(store.RoleAdmin, "Rob", "", "name", "Bob")))
}

// memberChanged is the event about Bob: what he is, and names and values of what he was.
func memberChanged(role, name, email string, was ...string) sent {
	previous := map[string]any{}
	for pair := range slices.Chunk(was, 2) {
		previous[pair[0]] = pair[1]
	}
	return sent{store.EventMemberChanged, map[string]any{
		"orgId": acme, "memberId": "mem_bob", "userId": bob, "role": role, "name": name, "email": email, "previous": previous,
	}}
}

func addMember(tx store.Tx, m store.Member) error {
	_, err := store.AddMember(tx, ada, m)
	return err
}

func changeMember(org, user string, c store.MemberChange) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.ChangeMember(tx, ada, org, user, c)) }
}

func changeRole(tx store.Tx, actorID, orgID, userID, role string) error {
	_, err := store.ChangeMember(tx, actorID, orgID, userID, store.MemberChange{Role: &role})
	return err
}

// TestRolesThatLookAlike: a role that only looks like one with a meaning is refused, so
// that an admin's keys don't end by it; any other text is a role.
func TestRolesThatLookAlike(t *testing.T) { onBoth(t, testRolesThatLookAlike) }

func testRolesThatLookAlike(s *subject) {
	s.Write(storetest.Fill)
	role := "Admin"
	for what, rule := range map[string]func(store.Tx) error{
		"added": func(tx store.Tx) error {
			return addMember(tx, store.Member{OrgID: acme, UserID: "usr_new", Role: role})
		},
		"changed": func(tx store.Tx) error { return changeRole(tx, "", acme, bob, role) },
		"put": func(tx store.Tx) error {
			return second(store.PutMember(tx, "", acme, store.MemberValues{UserID: bob, MemberChange: store.MemberChange{Role: &role}}))
		},
	} {
		s.refused(what, store.CodeBadRequest, rule)
	}
	check := func(role string) string { return fmt.Sprint(store.Member{UserID: bob, Role: role}.Check()) }
	for _, role := range []string{"Admin", "ADMIN", " admin", "admin ", "ad min", "ad\u200bmin", "admin\ufeff", "ad\u00admin", "\uff41\uff44\uff4d\uff49\uff4e", "admin\x00"} {
		if got := check(role); got != fmt.Sprintf("role: %q looks like the role admin but is not; did you mean admin?", role) {
			s.Errorf("%q: %s", role, got)
		}
	}
	s.Equal("an owner", check(" owner"), `role: " owner" looks like the role owner but is not; did you mean owner?`)
	for _, role := range []string{"admin", "owner", "viewer", "member", "administrator", "admi\u0144", "co-owner", "Mitglied", "管理者", "🚀", "r"} {
		s.Equal(role, check(role), "<nil>")
	}
}

// TestVisibleNames: what people know something by has a character that they see.
func TestVisibleNames(t *testing.T) { onBoth(t, testVisibleNames) }

func testVisibleNames(s *subject) {
	s.Write(storetest.Fill)
	name := "\u200b"
	key := store.APIKey{OrgID: acme, ID: "key_new", Scopes: store.ScopeRead, CreatedBy: ada}
	for what, rule := range map[string]func(store.Tx) error{
		"an org":            func(tx store.Tx) error { return second(store.CreateOrg(tx, "", store.Org{Name: name})) },
		"an org's new name": renameOrg(acme, name),
		"a role":            func(tx store.Tx) error { return changeRole(tx, "", acme, bob, name) },
		"a member": func(tx store.Tx) error {
			return second(store.ChangeMember(tx, "", acme, bob, store.MemberChange{Name: &name}))
		},
		"a key":             func(tx store.Tx) error { key.Name = name; return second(store.ImportKey(tx, key)) },
		"an operator token": func(tx store.Tx) error { return store.ImportOperatorToken(tx, store.OperatorToken{Name: name}) },
		"a passkey":         func(tx store.Tx) error { return store.AddPasskey(tx, bob, store.Passkey{ID: "q", Name: name}) },
		"a guest": func(tx store.Tx) error {
			_, _, err := store.CreatePortalLink(tx, ada, guest, store.Portal{OrgID: acme, Role: store.RoleViewer, Name: name}, time.Hour)
			return err
		},
	} {
		s.refused(what, store.CodeBadRequest, rule)
	}
	for _, name := range []string{" ", "\u00a0\u3000", "\u2060\ufe0f", "\u3164", "\u2800", "\u034f", "\u202e", "\u0301"} {
		s.Code(fmt.Sprintf("%q", name), store.Member{UserID: bob, Role: "r", Name: name}.Check(), store.CodeBadRequest)
	}
	for _, name := range []string{"", " x ", "\u200f\u05d0", "👨\u200d👩", ".", "e\u0301"} {
		s.Code(fmt.Sprintf("%q", name), store.Member{UserID: bob, Role: "r", Name: name}.Check(), "")
	}
}
