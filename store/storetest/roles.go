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
		s.Equal("keys of no org", strings.Contains(s.dump(names{"org": {"a!"}}), "keys a!: []"), true)
		s.Reopen()
	}
}
