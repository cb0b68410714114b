package storetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"teamdata/store"
)

// readPage reads a page of acme's members or audit log.
type readPage func(tx store.Tx, after store.Cursor, limit int, dst []byte) (store.Page, error)

var lists = map[string]readPage{
	"members": func(tx store.Tx, after store.Cursor, limit int, dst []byte) (store.Page, error) {
		return tx.MemberPage(acme, after, limit, dst)
	},
	"audit log": func(tx store.Tx, after store.Cursor, limit int, dst []byte) (store.Page, error) {
		return tx.AuditPage(acme, after, limit, dst)
	},
}

// fillLists gives both of acme's lists items at the same positions, in any
// order, among the lists of other orgs. It returns the positions in order.
func (s *Subject) fillLists(n int) []store.Cursor {
	positions := make([]store.Cursor, n)
	for i := range positions {
		// Three items a millisecond, told apart by ids of different lengths.
		positions[i] = store.CursorOf(someTime.Add(time.Duration(i/3)*time.Millisecond), "i"+strings.Repeat("x", i%3))
	}
	s.Write(func(tx store.Tx) error {
		for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
			for _, org := range []string{acme, "org_acmf", "org_acm"} {
				at := time.UnixMilli(int64(positions[i].Ms)).UTC()
				if err := appendMember(tx, store.Member{OrgID: org, ID: positions[i].ID, UserID: fmt.Sprintf("u%03d", i), CreatedAt: at}); err != nil {
					return err
				}
				if _, err := tx.AppendAudit(store.AuditEntry{OrgID: org, ID: positions[i].ID, Action: "a", CreatedAt: at}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return positions
}

func testPages(s *Subject) {
	const n = 151 // no multiple of a limit below, but for 1
	positions := s.fillLists(n)
	for name, read := range lists {
		whole := s.page(read, store.Cursor{}, n)
		s.Equal(name+" in one page", whole.Count, n)
		s.Equal("more", whole.More, false)
		for _, limit := range []int{1, 7, 50, 100, n - 1, n, n + 1} {
			s.walk(fmt.Sprintf("%s by %d", name, limit), read, limit, positions, string(whole.Items))
		}
	}
}

func (s *Subject) page(read readPage, after store.Cursor, limit int) (page store.Page) {
	s.Helper()
	s.Read(func(tx store.Tx) (err error) {
		page, err = read(tx, after, limit, nil)
		return err
	})
	return page
}

// walk goes through a list page by page.
func (s *Subject) walk(what string, read readPage, limit int, positions []store.Cursor, want string) {
	var got []string
	after := store.Cursor{}
	for seen := 0; seen < len(positions) && !s.Failed(); {
		page := s.page(read, after, limit)
		s.Equal(what+": items", page.Count, min(limit, len(positions)-seen))
		seen += page.Count
		s.Equal(what+": more", page.More, seen < len(positions))
		s.Equal(what+": last", page.Last, positions[min(seen, len(positions))-1])
		got = append(got, string(page.Items))
		after = page.Last
	}
	s.Equal(what, strings.Join(got, ","), want)
	s.Equal(what+": behind the last", s.page(read, after, limit), store.Page{})
}

// testCursorsThatNameNothing reads after cursors before, between and behind the
// items.
func testCursorsThatNameNothing(s *Subject) {
	positions := s.fillLists(30)
	cursors := []string{
		"0.x", "0.\x00", "999999999999999.z", "000000000000001." + strings.Repeat("🚀", 5000),
		"253402300799999.~", "1.a.b",
	}
	for _, p := range positions {
		cursors = append(cursors, p.String(), p.String()+"\x00", p.String()+"x",
			store.Cursor{Ms: p.Ms, ID: "\x00"}.String(), store.Cursor{Ms: p.Ms, ID: "\U0010FFFF"}.String(),
			store.Cursor{Ms: p.Ms - 1, ID: p.ID}.String(), store.Cursor{Ms: p.Ms, ID: "h"}.String())
	}
	for name, read := range lists {
		for _, text := range cursors {
			cursor, ok := store.ParseCursor(text)
			if !ok {
				s.Fatalf("%q is no cursor", text)
			}
			page := s.page(read, cursor, 4)
			want := store.Page{}
			for _, p := range positions {
				switch {
				case p.Compare(cursor) <= 0:
				case want.Count == 4:
					want.More = true
				default:
					want.Count++
					want.Last = p
				}
			}
			page.Items = nil
			s.Equal(fmt.Sprintf("%s after %.60q", name, text), page, want)
		}
	}
}

// testPagesAppend has what is in dst stay before the items.
func testPagesAppend(s *Subject) {
	s.fillLists(5)
	for name, read := range lists {
		want := `{"data":[` + string(s.page(read, store.Cursor{}, 3).Items)
		s.Read(func(tx store.Tx) error {
			page, err := read(tx, store.Cursor{}, 3, []byte(`{"data":[`))
			s.Equal(name, string(page.Items), want)
			return err
		})
		s.Read(func(tx store.Tx) error {
			page, err := read(tx, store.Cursor{Ms: 1 << 49, ID: "x"}, 3, []byte(`{"data":[`))
			s.Equal("empty page of "+name, string(page.Items), `{"data":[`)
			return err
		})
	}
}
