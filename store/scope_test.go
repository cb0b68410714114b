package store_test

import (
	"context"
	"errors"
	"testing"

	"teamdata/store"
)

// TestUpdateAs: what a user does to an account is told in the log of each org that the
// user manages when it is committed, also of one that came after the first look.
func TestUpdateAs(t *testing.T) { onBoth(t, testUpdateAs) }

func testUpdateAs(s *subject) {
	s.Seed()
	s.Write(func(tx store.Tx) error {
		_, err := store.ImportOrg(tx, store.Org{ID: "org_later", Name: "Later"})
		return err
	})
	joining := &joins{Store: s.Store, join: func() {
		s.Write(func(tx store.Tx) error {
			return second(store.ImportMember(tx, store.Member{OrgID: "org_later", UserID: ada, Role: store.RoleOwner}))
		})
	}}
	err := store.UpdateAs(s.Context(), joining, []string{ada}, func(tx store.Tx) error {
		return store.AuditAccount(nil, tx, ada, ada, store.AuditSignedIn)
	})
	s.Code("an entry for each org", err, "")
	for _, org := range []string{acme, other, "org_later"} {
		s.Equal("the log of "+org, s.entries(org), []string{store.AuditSignedIn + " " + ada})
	}
	s.Equal("scopes", joining.scopes, []store.Scope{
		{Users: []string{ada}, Orgs: []string{acme, other}},
		{Users: []string{ada}, Orgs: []string{acme, "org_later", other}},
	})

	err = store.UpdateAs(s.Context(), s.Store, []string{ada, bob}, func(store.Tx) error { return errFailing })
	s.Equal("an error of the function", errors.Is(err, errFailing), true)
}

// joins is a store in which a user comes to manage one more org before the first
// Update.
type joins struct {
	store.Store
	join   func()
	scopes []store.Scope
}

func (j *joins) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	if j.scopes = append(j.scopes, scope); len(j.scopes) == 1 {
		j.join()
	}
	return j.Store.Update(ctx, scope, fn)
}
