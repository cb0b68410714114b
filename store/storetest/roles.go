package storetest

import (
	"fmt"
	"slices"
	"strings"

	"teamdata/store"
)

// likeIDs begin alike, in their order.
var likeIDs = []string{"A", "a", "a-", "a0", "aa", "b"}

// walks reads a list from id to id, with every limit, and from ids that nothing
// has; it finds the ids that it has to, in their order.
func (s *Subject) walks(what string, want []string, read func(tx store.Tx, after string, limit int) ([]string, error)) {
	s.Helper()
	for limit := 1; limit <= len(want)+1; limit++ {
		var got []string
		for page, after := want, ""; len(page) > 0 && len(got) <= len(want); {
			s.Read(func(tx store.Tx) (err error) {
				page, err = read(tx, after, limit)
				s.Equal(what+": on the page", len(page), min(limit, len(want)-len(got)))
				return err
			})
			if got = append(got, page...); len(page) > 0 {
				after = page[len(page)-1]
			}
		}
		s.Equal(fmt.Sprintf("%s by %d", what, limit), got, want)
	}
	for _, after := range []string{"!", "A!", "a.", "a~", "~"} {
		rest := slices.DeleteFunc(slices.Clone(want), func(id string) bool { return id <= after })
		s.Read(func(tx store.Tx) error {
			got, err := read(tx, after, 100)
			s.Equal(what+" after "+after, got, rest)
			return err
		})
	}
}

func testOrgList(s *Subject) {
	for _, i := range []int{3, 0, 5, 2, 4, 1} {
		s.Write(func(tx store.Tx) error { return tx.PutOrg(store.Org{ID: likeIDs[i], Name: unicode}) })
	}
	for range 2 {
		s.walks("orgs", likeIDs, func(tx store.Tx, after string, limit int) (ids []string, err error) {
			orgs, err := tx.Orgs(after, limit)
			for _, o := range orgs {
				whole, err := tx.Org(o.ID)
				s.Equal("an org of the list", o, whole)
				s.Code("an org of the list", err, "")
				ids = append(ids, o.ID)
			}
			return ids, err
		})
		s.Reopen()
	}
}

// testAPIKeyList has each of the orgs whose ids begin alike own keys whose ids
// do.
func testAPIKeyList(s *Subject) {
	keyOf := func(org, id string) store.APIKey {
		return store.APIKey{ID: id + "_of_" + org, OrgID: org, Scopes: store.ScopeRead, CreatedAt: someTime}
	}
	for i := range likeIDs {
		s.Write(func(tx store.Tx) error {
			for _, org := range likeIDs {
				if err := tx.PutAPIKey(keyOf(org, likeIDs[len(likeIDs)-1-i])); err != nil {
					return err
				}
			}
			return nil
		})
	}
	revoked := keyOf("a", "a-")
	revoked.RevokedAt = someTime
	s.Write(func(tx store.Tx) error { return tx.PutAPIKey(revoked) })
	for range 2 {
		for _, org := range likeIDs {
			var want []string
			for _, id := range likeIDs {
				want = append(want, keyOf(org, id).ID)
			}
			slices.Sort(want)
			s.walks("keys of "+org, want, func(tx store.Tx, after string, limit int) (ids []string, err error) {
				keys, err := tx.APIKeys(org, after, limit)
				for _, k := range keys {
					whole, err := tx.APIKey(k.ID)
					s.Equal("a key of the list", k, whole)
					s.Code("a key of the list", err, "")
					ids = append(ids, k.ID)
				}
				return ids, err
			})
		}
		s.Equal("keys of no org", strings.Contains(s.dump(&names{orgs: []string{"a!"}}), "keys a!: []"), true)
		s.Reopen()
	}
}

// testPlanList also drops a plan.
func testPlanList(s *Subject) {
	list := func() (names []string) {
		s.Read(func(tx store.Tx) error {
			plans, err := tx.Plans()
			for _, p := range plans {
				names = append(names, fmt.Sprint(p.Name, p.Features))
			}
			return err
		})
		return names
	}
	s.Equal("plans at first", list(), []string{})
	for _, i := range []int{3, 0, 5, 2, 4, 1} {
		s.Write(func(tx store.Tx) error { return tx.PutPlan(store.Plan{Name: likeIDs[i], Features: store.FeatureAPI}) })
	}
	s.Equal("plans", list(), []string{"Aapi", "aapi", "a-api", "a0api", "aaapi", "bapi"})
	s.Write(func(tx store.Tx) error { return tx.DeletePlan("a-") })
	s.Reopen()
	s.Equal("plans once one is dropped", list(), []string{"Aapi", "aapi", "a0api", "aaapi", "bapi"})
	s.Read(func(tx store.Tx) error {
		_, err := tx.Plan("a-")
		s.Code("the one that was dropped", err, store.CodeNotFound)
		return nil
	})
}
