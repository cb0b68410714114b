package storetest

import (
	"strings"

	"teamdata/store"
)

func changeMember(org, user string, c store.MemberChange) func(store.Tx) error {
	return func(tx store.Tx) error { return second(store.ChangeMember(tx, ada, org, user, c)) }
}

func testChangeMember(s *subject) {
	s.seed()
	s.update(func(tx store.Tx) error {
		return addMember(tx, store.Member{OrgID: acme, ID: "mem_bob", UserID: bob, Role: store.RoleMember, Name: "Bob", Email: "bob@acme.example"})
	})
	s.claimAll()
	text := func(t string) *string { return &t }
	kept := effects{actions: []string{"member.changed mem_bob"}}
	promoted := effects{actions: []string{"member.roleChanged mem_bob"}}
	s.does("another name", changeMember(acme, bob, store.MemberChange{Name: text(longText)}), kept)
	s.does("another address", changeMember(acme, bob, store.MemberChange{Email: text("b@acme.example")}), kept)
	s.does("another role", changeMember(acme, bob, store.MemberChange{Role: text(store.RoleAdmin)}), promoted)
	s.does("a role and a name", changeMember(acme, bob, store.MemberChange{Role: text(store.RoleOwner), Name: text("")}), promoted)
	s.equal("the member", strings.Contains(s.orgDump(acme), "UserID:usr_bob Role:owner Name: Email:b@acme.example"), true)
	s.equal("managers", s.managers(), []string{"usr_ada owner", "usr_bob owner"})
	s.does("a role of the org's own", changeMember(acme, bob, store.MemberChange{Role: text(strings.Repeat("é", 64))}), promoted)
	s.does("the longest address", changeMember(acme, bob, store.MemberChange{Email: text(strings.Repeat("é", 254))}), kept)
	s.changesNothing("nothing given", changeMember(acme, bob, store.MemberChange{}))
	s.changesNothing("the same", changeMember(acme, bob, store.MemberChange{Role: text(strings.Repeat("é", 64)), Name: text("")}))
	for what, bad := range map[string]store.MemberChange{
		"no role": {Role: text("")}, "a long role": {Role: text(tooLong(64))}, "a long name": {Name: text(tooLong(200))},
		"a long address": {Email: text(tooLong(254))}, "no UTF-8": {Name: text("\xff")},
	} {
		s.refused(what, store.CodeBadRequest, changeMember(acme, bob, bad))
	}
	s.refused("demoting the last owner", store.CodeConflict, changeMember(acme, ada, store.MemberChange{Role: text("admin"), Name: text("Ada")}))
	s.refused("no member", store.CodeNotFound, changeMember(acme, "usr_none", store.MemberChange{Name: text("x")}))
	s.refused("another org's member", store.CodeNotFound, changeMember(other, bob, store.MemberChange{Name: text("x")}))
	s.update(changeMember(acme, ada, store.MemberChange{Role: text(store.RoleOwner), Name: text("Ada")}))
	s.equal("the last owner's name", strings.Contains(s.orgDump(acme), "Role:owner Name:Ada"), true)
}

// claimAll takes what is due of endpoint 1, so that effects show what follows.
func (s *subject) claimAll() {
	s.Helper()
	s.after(func(store.Tx) error { return nil })
}
