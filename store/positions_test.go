package store_test

import (
	"fmt"
	"testing"
	"time"

	"teamdata/store"
)

// appendBoth appends an item to both of acme's lists, at positions that the
// engine gives.
func appendBoth(tx store.Tx, user string) (m, e store.Cursor, err error) {
	member, err := tx.AppendMember(store.Member{OrgID: acme, UserID: user, Role: store.RoleMember})
	if err != nil {
		return m, e, err
	}
	entry, err := tx.AppendAudit(store.AuditEntry{OrgID: acme, Action: "for " + user})
	return store.CursorOf(member.CreatedAt, member.ID), store.CursorOf(entry.CreatedAt, entry.ID), err
}

// riser holds positions to rising.
type riser struct {
	*subject
	n              int
	members, audit store.Cursor
}

func (r *riser) rise(when string) {
	r.Helper()
	r.Write(func(tx store.Tx) error {
		r.n++
		m, e, err := appendBoth(tx, fmt.Sprintf("usr_%d", r.n))
		if m.Compare(r.members) <= 0 || e.Compare(r.audit) <= 0 {
			r.Errorf("%s: positions %v and %v do not follow %v and %v", when, m, e, r.members, r.audit)
		}
		r.members, r.audit = m, e
		return err
	})
}

// TestPositionsRise has the clock stand, go on and step back, the store reopened
// and the last item deleted.
func TestPositionsRise(t *testing.T) { onBoth(t, testPositionsRise) }

func testPositionsRise(s *subject) {
	r := &riser{subject: s}
	for range 5 {
		r.rise("the clock stands")
	}
	s.Clock.Move(time.Millisecond)
	r.rise("the clock goes on")
	s.Equal("an item's time", r.audit.Ms, uint64(s.Clock.Now().UnixMilli()))
	for _, back := range []time.Duration{time.Millisecond, time.Hour, 24 * 365 * time.Hour} {
		s.Clock.Move(-back)
		r.rise("the clock steps back")
		r.rise("the clock stands again")
	}
	s.Reopen()
	r.rise("the store was reopened")
	s.Clock.Move(2 * 24 * 365 * time.Hour)
	r.rise("the clock catches up")
	s.Write(func(tx store.Tx) error { return tx.DeleteMember(acme, fmt.Sprintf("usr_%d", r.n)) })
	s.Clock.Move(-time.Hour)
	r.rise("the clock steps back behind a member who was deleted")
}

// TestPositionsAfterImport has items of the past and the far future imported
// before positions are given.
func TestPositionsAfterImport(t *testing.T) { onBoth(t, testPositionsAfterImport) }

func testPositionsAfterImport(s *subject) {
	r := &riser{subject: s}
	r.rise("before the import")
	future := epoch.Add(50 * 365 * 24 * time.Hour)
	for i, at := range []time.Time{firstMs, someTime, future, epoch} {
		for _, id := range []string{"-", "imported", "zzz"} {
			s.Write(func(tx store.Tx) error {
				id := fmt.Sprintf("%s%d", id, i)
				if err := appendMember(tx, store.Member{OrgID: acme, ID: id, UserID: id, CreatedAt: at}); err != nil {
					return err
				}
				_, err := tx.AppendAudit(store.AuditEntry{OrgID: acme, ID: id, Action: "a", CreatedAt: at})
				return err
			})
			if c := store.CursorOf(at, fmt.Sprintf("%s%d", id, i)); c.Compare(r.audit) > 0 {
				r.members, r.audit = c, c
			}
		}
		r.rise("after importing " + at.String())
	}
	s.Clock.Move(100 * 365 * 24 * time.Hour)
	r.rise("the clock passes the imported")
	s.Equal("an item's time", r.audit.Ms, uint64(s.Clock.Now().UnixMilli()))
	s.Write(func(tx store.Tx) error { // an id without a time, a time without an id
		if err := appendMember(tx, store.Member{OrgID: acme, ID: "A", UserID: "A"}); err != nil {
			return err
		}
		e, err := tx.AppendAudit(store.AuditEntry{OrgID: acme, Action: "a", CreatedAt: someTime})
		s.Equal("a brought time", e.CreatedAt, someTime)
		s.Equal("its id is given", e.ID != "", true)
		return err
	})
	s.Equal("a brought id comes last", s.page(members(acme), store.Cursor{}, 1000).Last.ID, "A")
}

// TestPositionsAreApart removes a member of the future, whom the next members follow, and
// no audit entries.
func TestPositionsAreApart(t *testing.T) { onBoth(t, testPositionsAreApart) }

func testPositionsAreApart(s *subject) {
	future := s.Clock.Now().Add(24 * time.Hour)
	s.Write(func(tx store.Tx) error {
		return appendMember(tx, store.Member{OrgID: acme, ID: "mem_future", UserID: "future", CreatedAt: future})
	})
	s.Write(func(tx store.Tx) error { return tx.DeleteMember(acme, "future") })
	for range 2 {
		s.Clock.Move(time.Millisecond)
		s.Write(func(tx store.Tx) error {
			m, e, err := appendBoth(tx, fmt.Sprint("usr_", tx.NewID(store.PrefixMember)))
			s.Equal("the member follows the removed one", m.Ms >= uint64(future.UnixMilli()), true)
			s.Equal("the entry's time", e.Ms, uint64(s.Clock.Now().UnixMilli()))
			return err
		})
		s.Reopen()
	}
}
