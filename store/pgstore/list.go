package pgstore

import (
	"time"

	"teamdata/store"
)

// orgLists has the greatest position that each list of an org ever had.
var orgLists = define("org_lists", 1, text("org_id"), number("members_at"), text("members_id"), number("audit_at"), text("audit_id"), text("last_id"))

// orgList is a list of items that each org has.
type orgList struct {
	*table
	last int // where its position stands in a row of orgLists
}

var (
	memberList = orgList{members.table, 1}
	auditList  = orgList{auditLog, 3}
)

// place fills in the missing parts of a list item's position. A position assigned
// here follows every other that the list ever had, even if the clock stepped back
// or an import brought items of the future. A complete position is kept. conflict:
// another item has it.
func (t *tx) place(list orgList, orgID, prefix string, id *string, createdAt *time.Time) error {
	lists, err := t.lists(orgID)
	if err != nil {
		return err
	}
	last := store.Cursor{Ms: readUnsigned(lists[list.last]), ID: string(lists[list.last+1])}
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
	if at.Compare(last) <= 0 {
		return nil
	}
	lists = append(row{}, lists...)
	lists[list.last], lists[list.last+1] = unsigned(at.Ms), plain(at.ID)
	return t.put(orgLists, lists)
}

// lists are the positions of an org's lists.
func (t *tx) lists(orgID string) (row, error) {
	found, err := t.get(orgLists, plain(orgID))
	if found == nil {
		found = row{plain(orgID), bigint(0), nil, bigint(0), nil, nil}
	}
	return found, err
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
