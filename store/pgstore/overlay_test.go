package pgstore

import (
	"errors"
	"testing"

	"teamdata/internal/pgtest"
	"teamdata/store"
	"teamdata/store/engine"
)

// An update that fails takes nothing away from one before it in its group, also if both
// wrote the same row, which was sent several times.
func TestUndone(t *testing.T) {
	s := nodes(t, 1, pgtest.New(t), nil)[0]
	scope, failed := store.Scope{Orgs: []string{"org_1"}}, errors.New("failed")
	group := []*engine.Update{
		{Ctx: bg, Scope: scope, Fn: func(tx store.Tx) error {
			_, err := tx.AppendMember(store.Member{OrgID: "org_1", UserID: "usr_ada", Role: store.RoleOwner})
			return err
		}},
		{Ctx: bg, Scope: scope, Fn: func(tx store.Tx) error {
			m, err := tx.Member("org_1", "usr_ada")
			for _, role := range []string{"admin", "guest", "member"} {
				m.Role = role
				if err == nil {
					err = tx.PutMember(m)
				}
				if err == nil {
					_, err = tx.CountOwners("org_1")
				}
			}
			return errors.Join(err, failed)
		}},
	}
	s.commit(group)
	if group[0].Err != nil || !errors.Is(group[1].Err, failed) {
		t.Fatal(group[0].Err, group[1].Err)
	}
	err := s.View(bg, func(tx store.Tx) error {
		if owners, err := tx.CountOwners("org_1"); owners != 1 || err != nil {
			t.Errorf("%d owners, %v", owners, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
