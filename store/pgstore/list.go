package pgstore

import (
	"time"

	"teamdata/store"
)

// orgLists has the greatest position of each list of an org that an item had which was
// removed since, if there was no greater one then. Updates lock its rows.
var orgLists = define("org_lists", 1, text("org_id"), number("members_at"), text("members_id"), number("audit_at"), text("audit_id"))

// orgList is a list of items that each org has.
type orgList struct {
	*table
	place int // among positions
}

var (
	memberList = orgList{members.table, 0}
	auditList  = orgList{auditLog, 1}
)

// positions are the greatest that each list of an org ever had.
type positions [2]store.Cursor

// placed is a change of the positions of an org, with what they were before.
type placed struct {
	orgID  string
	before positions
	known  bool
}

// loadPositions makes the query that loads the positions of orgs: those of the last items,
// found by the index, and those of items that were removed.
func (o *overlay) loadPositions(orgIDs []string) query {
	q := newQuery(`SELECT o.id, m.at, m.id, a.at, a.id, l.members_at, l.members_id, l.audit_at, l.audit_id
		FROM unnest($1::text[]) o (id) LEFT JOIN org_lists l ON l.org_id = o.id
		LEFT JOIN LATERAL (SELECT at, id FROM members WHERE org_id = o.id AND (at, id) > (coalesce(l.members_at, 0), coalesce(l.members_id, '')) ORDER BY at DESC, id DESC LIMIT 1) m ON true
		LEFT JOIN LATERAL (SELECT at, id FROM audit_log WHERE org_id = o.id AND (at, id) > (coalesce(l.audit_at, 0), coalesce(l.audit_id, '')) ORDER BY at DESC, id DESC LIMIT 1) a ON true`, orgIDs)
	q.row = func(values [][]byte) error {
		if _, known := o.lists[string(values[0])]; !known {
			var p positions
			for i := range 4 {
				if at := (store.Cursor{Ms: readUnsigned(values[1+2*i]), ID: string(values[2+2*i])}); p[i%2].Compare(at) < 0 {
					p[i%2] = at
				}
			}
			o.lists[string(values[0])] = p
		}
		return nil
	}
	return q
}

// positions are those of an org, as of this update.
func (t *tx) positions(orgID string) (positions, error) {
	if t.over == nil {
		return positions{}, fault(errReadOnly)
	}
	orgID = string(plain(orgID))
	if p, known := t.over.lists[orgID]; known {
		return p, nil
	}
	err := t.scan(nil, t.over.loadPositions([]string{orgID}))
	return t.over.lists[orgID], err
}

// setPositions notes positions that were changed.
func (o *overlay) setPositions(orgID string, p positions) {
	orgID = string(plain(orgID))
	before, known := o.lists[orgID]
	o.placed = append(o.placed, placed{orgID, before, known})
	o.lists[orgID] = p
}

// outlive remembers the position of an item that is removed, if no item of the list ever had
// a greater one.
func (t *tx) outlive(list orgList, orgID string, at store.Cursor) error {
	p, err := t.positions(orgID)
	if err != nil || at.Compare(p[list.place]) < 0 {
		return err
	}
	found, err := t.get(orgLists, plain(orgID))
	if err != nil {
		return err
	}
	if found = append(row{}, found...); len(found) == 0 {
		found = row{plain(orgID), bigint(0), nil, bigint(0), nil}
	}
	found[1+2*list.place], found[2+2*list.place] = unsigned(at.Ms), plain(at.ID)
	return t.put(orgLists, found)
}

// place fills in the missing parts of a list item's position. A position assigned
// here follows every other that the list ever had, even if the clock stepped back
// or an import brought items of the future. A complete position is kept. conflict:
// another item has it.
func (t *tx) place(list orgList, orgID, prefix string, id *string, createdAt *time.Time) error {
	p, err := t.positions(orgID)
	if err != nil {
		return err
	}
	last := p[list.place]
	at := store.Cursor{Ms: uint64(t.now.UnixMilli()), ID: *id}
	if at.ID == "" {
		at.ID = t.NewID(prefix)
	}
	if !createdAt.IsZero() {
		at.Ms = uint64(createdAt.UnixMilli())
		if err := t.unused(list, orgID, at); err != nil {
			return err
		}
	} else if at.Ms <= last.Ms {
		if at.Ms = last.Ms; at.ID <= last.ID {
			at.Ms++
		}
	}
	*id, *createdAt = at.ID, time.UnixMilli(int64(at.Ms)).UTC()
	if at.Compare(last) > 0 {
		p[list.place] = at
		t.over.setPositions(orgID, p)
	}
	return nil
}

// unused returns conflict if an item of a list has a position.
func (t *tx) unused(list orgList, orgID string, at store.Cursor) error {
	rows, err := t.query([]*table{list.table}, "SELECT at FROM "+list.name+" WHERE org_id = $1 AND at = $2 AND id = $3", orgID, at.Ms, at.ID)
	if err == nil && len(rows) > 0 {
		return store.Errorf(store.CodeConflict, "The list has an item %s of that time already.", at.ID)
	}
	return err
}

// page copies up to limit items after a cursor, with commas between them.
func (t *tx) page(list orgList, orgID string, after store.Cursor, limit int, dst []byte) (store.Page, error) {
	return t.copyPage(list, newQuery("SELECT at, id, item FROM "+list.name+
		" WHERE org_id = $1 AND (at, id) > ($2, $3) ORDER BY at, id LIMIT $4", orgID, after.Ms, after.ID, oneMore(limit)), limit, dst)
}

// pageBefore copies up to limit items before a cursor, latest first. The zero Cursor
// starts at the latest.
func (t *tx) pageBefore(list orgList, orgID string, before store.Cursor, limit int, dst []byte) (store.Page, error) {
	if before.IsZero() {
		before.Ms = 1<<63 - 1
	}
	return t.copyPage(list, newQuery("SELECT at, id, item FROM "+list.name+
		" WHERE org_id = $1 AND (at, id) < ($2, $3) ORDER BY at DESC, id DESC LIMIT $4", orgID, before.Ms, before.ID, oneMore(limit)), limit, dst)
}

// copyPage copies up to limit items that a query reads, with commas between them.
func (t *tx) copyPage(list orgList, q query, limit int, dst []byte) (page store.Page, err error) {
	var lastAt uint64
	lastID := make([]byte, 0, 64)
	q.row = func(values [][]byte) error {
		if page.Count == limit {
			page.More = true
			return nil
		}
		if page.Count > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, values[2]...)
		page.Count++
		lastAt = readUnsigned(values[0])
		lastID = append(lastID[:0], values[1]...)
		return nil
	}
	err = t.scan([]*table{list.table}, q)
	if page.Items = dst; page.Count > 0 {
		page.Last = store.Cursor{Ms: lastAt, ID: string(lastID)}
	}
	return page, err
}
