package pgstore_test

import (
	"errors"
	"fmt"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
)

// A View that reads on behind a page has all from one snapshot, even if it ignores errors.
func TestPageAndMore(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	for name, url := range map[string]string{"directly": database, "by a pooler": postgres.Shared(t).Pooler(t)(database)} {
		s := open(t, url, pgstore.Options{})
		defer s.Close()
		org, runs := "org_"+name[:2], 0
		kit.Must(t, s.Update(bg, store.All, func(tx store.Tx) error {
			_, err := store.ImportOrg(tx, store.Org{ID: org, Name: org})
			return err
		}))
		var first, second store.Page
		kit.Must(t, s.View(bg, func(tx store.Tx) (err error) {
			runs++
			first, err = tx.MemberPage(org, store.Cursor{}, 100, nil)
			added := s.Update(bg, store.InOrg(org), func(tx store.Tx) error {
				_, err := tx.AppendMember(store.Member{OrgID: org, UserID: fmt.Sprint("usr_", runs), Role: store.RoleMember})
				return err
			})
			second, _ = tx.MemberPage(org, store.Cursor{}, 100, nil)
			return errors.Join(err, added)
		}))
		if runs != 2 || first.Count != 1 || second.Count != 1 {
			t.Errorf("%s: in run %d the page has %d members, and then %d", name, runs, first.Count, second.Count)
		}
	}
}
