package store

import (
	"bytes"
	"time"

	"teamdata/store/rows"
)

// Lists of an org, of members and of its audit log, are in order of the items' positions:
// the time when an item was added, and its id.

// position appends the key of an item in a list: org id, 0, ms, item id.
func position(dst []byte, orgID string, at Cursor) []byte {
	return append(rows.Number(rows.Part(dst, orgID), at.Ms), at.ID...)
}

// positionOf reads the position back from such a key.
func positionOf(orgID string, key []byte) Cursor {
	rest := key[len(orgID)+1:]
	return Cursor{Ms: rows.ReadNumber(rest), ID: string(rest[8:])}
}

// after are the bounds of what follows a position in a list.
func after(orgID string, at Cursor) rows.Bounds {
	both := make([]byte, 0, 2*len(orgID)+len(at.ID)+11)
	from := append(position(both, orgID, at), 0)
	to := append(append(from[len(from):], orgID...), 1)
	return rows.Bounds{From: from[:len(from):len(from)], To: to}
}

// before are the bounds of what comes before a position; the zero Cursor is the end.
func before(orgID string, at Cursor) rows.Bounds {
	b := rows.Below(orgID, "")
	if !at.IsZero() {
		b.To = position(nil, orgID, at)
	}
	return b
}

// orgList is the rows or an index of a kind that are a list of each org.
type orgList struct {
	*rows.Kind
	index int
}

// page appends what a range of an org's list has to dst.
func (t Tx) page(l orgList, orgID string, r rows.Range, dst []byte) (Page, error) {
	r.Index = l.index
	j, err := t.Join(l.Kind, r, dst)
	page := Page{Items: j.Bytes, Count: j.Count, More: j.More}
	if err == nil && j.Count > 0 {
		page.Last = positionOf(orgID, j.Last)
	}
	return page, stored(err)
}

// last returns the greatest position in a list; zero: it is empty.
func (t Tx) last(l orgList, orgID string) (Cursor, error) {
	key, err := t.Last(l.Kind, l.index, rows.Part(nil, orgID))
	if err != nil || key == nil {
		return Cursor{}, stored(err)
	}
	return positionOf(orgID, key), nil
}

// place fills in the missing parts of a new item's position. One that is assigned here
// follows every other that the list ever had, last too, even if the clock stepped back or
// an import brought items of the future. A complete one is kept. conflict: another item
// has it.
func (t Tx) place(l orgList, orgID, prefix string, last Cursor, id *string, createdAt *time.Time) error {
	at := Cursor{Ms: uint64(t.Now().UnixMilli()), ID: *id}
	if at.ID == "" {
		at.ID = t.NewID(prefix)
	}
	if !createdAt.IsZero() {
		at.Ms = uint64(createdAt.UnixMilli())
		if err := t.unused(l, orgID, at); err != nil {
			return err
		}
	} else {
		there, err := t.last(l, orgID)
		if err != nil {
			return err
		}
		if last.Compare(there) < 0 {
			last = there
		}
		if at.Ms <= last.Ms {
			if at.Ms = last.Ms; at.ID <= last.ID {
				at.Ms++
			}
		}
	}
	*id, *createdAt = at.ID, time.UnixMilli(int64(at.Ms)).UTC()
	return nil
}

// unused returns conflict if an item of a list has a position.
func (t Tx) unused(l orgList, orgID string, at Cursor) error {
	there, err := t.has(l, position(t.Text(""), orgID, at))
	if there {
		return Errorf(CodeConflict, "The list already has an item %s with that time.", at.ID)
	}
	return stored(err)
}

// has reports whether a list has a key.
func (t Tx) has(l orgList, key []byte) (there bool, err error) {
	if l.index == rows.ByKey {
		value, err := t.Get(l.Kind, key)
		return value != nil, err
	}
	only := rows.Bounds{From: key, To: append(bytes.Clone(key), 0)}
	err = t.Scan(l.Kind, rows.Range{Index: l.index, Bounds: only, Limit: 1}, func(rows.Item) bool {
		there = true
		return false
	})
	return there, err
}

// NewestPosition returns the greatest position that any list of an org has, or that its
// members' list ever had.
func (t Tx) NewestPosition(orgID string) (newest Cursor, err error) {
	newest, err = t.lastRemoved(orgID)
	for _, l := range []orgList{memberList, auditLog} {
		if err != nil {
			return Cursor{}, err
		}
		var last Cursor
		if last, err = t.last(l, orgID); newest.Compare(last) < 0 {
			newest = last
		}
	}
	return newest, err
}
