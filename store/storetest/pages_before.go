package storetest

import (
	"fmt"
	"slices"
	"strings"

	"teamdata/store"
)

// before reads the page of acme's audit log before a cursor, as its items.
func (s *Subject) before(cursor store.Cursor, limit int) (items []string, page store.Page) {
	s.Helper()
	s.Read(func(tx store.Tx) (err error) {
		page, err = tx.AuditPageBefore(acme, cursor, limit, []byte("dst"))
		return err
	})
	rest, ok := strings.CutPrefix(string(page.Items), "dst")
	s.Equal("what is in dst stays", ok, true)
	return splitItems(rest), page
}

func splitItems(items string) []string {
	if items == "" {
		return nil
	}
	return strings.SplitAfter(strings.ReplaceAll(items, "},{", "}\n,{"), "\n,")
}

// testPagesBefore holds each page before each cursor to the list in reverse.
func testPagesBefore(s *Subject) {
	const n = 13
	none, page := s.before(store.Cursor{}, 3)
	s.Equal("an empty log", []any{none, page.Count, page.More}, []any{[]string{}, 0, false})
	positions := s.fillLists(n)
	all := splitItems(s.AuditLog(acme))
	s.Equal("items", len(all), n)
	cursors := []store.Cursor{{}, {Ms: 1}, {Ms: 1 << 49, ID: "x"}}
	for _, p := range positions {
		cursors = append(cursors, p, store.Cursor{Ms: p.Ms, ID: p.ID + "\x00"}, store.Cursor{Ms: p.Ms, ID: "\x00"})
	}
	for _, cursor := range cursors {
		end := n
		for cursor != (store.Cursor{}) && end > 0 && positions[end-1].Compare(cursor) >= 0 {
			end--
		}
		for limit := 1; limit <= n+1; limit++ {
			s.holdsBefore(fmt.Sprintf("%d before %v", limit, cursor), cursor, limit, all[:end], positions[:end])
		}
	}
}

// holdsBefore holds a page to the latest of what lies before its cursor.
func (s *Subject) holdsBefore(what string, cursor store.Cursor, limit int, all []string, positions []store.Cursor) {
	s.Helper()
	want := slices.Clone(all[max(0, len(all)-limit):])
	slices.Reverse(want)
	var last store.Cursor
	if len(want) > 0 {
		last = positions[len(all)-len(want)]
	}
	items, page := s.before(cursor, limit)
	s.Equal(what, trimItems(items), trimItems(want))
	s.Equal(what, []any{page.Count, page.More, page.Last}, []any{len(want), len(all) > limit, last})
}

// trimItems leaves the commas out, which stand elsewhere in a list in reverse.
func trimItems(items []string) (trimmed []string) {
	for _, item := range items {
		trimmed = append(trimmed, strings.Trim(item, "\n,"))
	}
	return trimmed
}
