package store

import (
	"bytes"

	"teamdata/store/rows"
)

// ownerOfMember is the org, whose list others are in, too, and the user.
func ownerOfMember(key, _ []byte) (rows.Owner, bool) {
	org, user, _ := bytes.Cut(key, []byte{0})
	return rows.Owner{Org: string(org), User: string(user)}, true
}

// The indexes of members.
const (
	byPosition = iota // an org's members as the API lists them
	managing          // those who manage an org
	seeing            // the orgs that a user may see
)

var memberList = orgList{&members.Kind, byPosition}

// memberOfItem finds the key of a member in an item of the list, whose JSON begins with
// two ids, in which nothing is escaped.
func memberOfItem(dst, key, item []byte) []byte {
	org, _, _ := bytes.Cut(key, []byte{0})
	_, user, _ := bytes.Cut(item, []byte(`"userId":"`))
	user, _, _ = bytes.Cut(user, []byte{'"'})
	return append(append(append(dst, org...), 0), user...)
}

// lastRemoved are positions of removed members that nobody in their list follows: new
// members do, still.
var lastRemoved = rows.Define(&rows.Table[removedMember]{
	Kind:     rows.Kind{Name: "lastRemoved", Noun: "removed member", Owner: rows.OrgInKey},
	Key:      func(dst []byte, r *removedMember) []byte { return append(dst, r.orgID...) },
	Fields:   func(c *rows.Codec, r *removedMember) { c.Rest(&r.key) },
	Complete: func(key []byte, r *removedMember) { r.orgID = string(key) },
	Checks: func(c *rows.Checker, key []byte, r *removedMember) {
		if !r.sound() {
			c.Fault("lastRemoved %q: %q is not a position of that org", key, r.key)
		}
	},
})

// removedMember is the key that a member had in its list.
type removedMember struct {
	orgID string
	key   []byte
}

func (r *removedMember) sound() bool {
	prefix := rows.Part(nil, r.orgID)
	return bytes.HasPrefix(r.key, prefix) && len(r.key) >= len(prefix)+8
}

func (t Tx) Member(orgID, userID string) (Member, error) {
	return find(members, t, t.Pair(orgID, userID))
}

// AppendMember adds a member whose user has no membership in the org yet. A
// missing id or creation time is filled in, past all positions that the list
// ever had. conflict: another item has the time and id.
func (t Tx) AppendMember(m Member) (Member, error) {
	last, err := t.lastRemoved(m.OrgID)
	if err == nil {
		err = t.place(memberList, m.OrgID, PrefixMember, last, &m.ID, &m.CreatedAt)
	}
	if err != nil {
		return Member{}, err
	}
	t.Changed().Touched = true
	return m, members.Insert(t.Tx, &m)
}

// lastRemoved returns the position of the last member that was removed; zero: others
// follow it, or there is none.
func (t Tx) lastRemoved(orgID string) (Cursor, error) {
	r, err := findOrZero(lastRemoved, t, t.Text(orgID))
	switch {
	case err != nil || r.key == nil:
		return Cursor{}, err
	case !r.sound():
		return Cursor{}, stored(rows.ErrRecord)
	}
	return positionOf(orgID, r.key), nil
}

// PutMember replaces a member; its id and creation time never change.
func (t Tx) PutMember(m Member) error {
	t.Changed().Touched = true
	return members.Put(t.Tx, &m)
}

func (t Tx) DeleteMember(orgID, userID string) error {
	m, err := t.Member(orgID, userID)
	if err != nil {
		return err
	}
	removed, err := t.OrgRemoved(orgID)
	if err != nil {
		return err
	}
	if !removed { // of a removed org no Access is left, and no list goes on
		t.Changed().Touched = true
		if err := t.keepLastRemoved(m); err != nil {
			return err
		}
	}
	return members.Drop(t.Tx, t.Pair(orgID, userID))
}

// keepLastRemoved keeps the position of a member who is about to be removed, if nobody in
// the list follows.
func (t Tx) keepLastRemoved(m Member) error {
	at := CursorOf(m.CreatedAt, m.ID)
	last, err := t.last(memberList, m.OrgID)
	if err != nil || last.Compare(at) > 0 {
		return err
	}
	if last, err = t.lastRemoved(m.OrgID); err != nil || last.Compare(at) > 0 {
		return err
	}
	return lastRemoved.Put(t.Tx, &removedMember{m.OrgID, position(nil, m.OrgID, at)})
}

func (t Tx) CountOwners(orgID string) (n int, err error) {
	err = t.Scan(&members.Kind, rows.Range{Index: managing, Bounds: rows.Below(orgID, "")}, func(item rows.Item) bool {
		if string(item.Value) == RoleOwner {
			n++
		}
		return true
	})
	return n, stored(err)
}

// Managers lists the owners and admins in order of user id.
func (t Tx) Managers(orgID string) ([]Member, error) {
	return list(members, t, managing, rows.Below(orgID, ""), unlimited)
}

// VisibleOrgs lists the ids of the orgs in which a user is owner, admin or
// viewer, in order, without removed ones.
func (t Tx) VisibleOrgs(userID string) (orgs []string, err error) {
	keys, err := rows.Keys(t.Tx, &members.Kind, rows.Range{Index: seeing, Bounds: rows.Below(userID, "")})
	if err != nil {
		return nil, stored(err)
	}
	for i := range keys {
		keys[i] = keys[i][len(userID)+1:]
	}
	gone := make([]bool, len(keys))
	err = t.Gets(&removedOrgs.Kind, keys, func(i int, _ []byte) error {
		gone[i] = true
		return nil
	})
	for i, id := range keys {
		if !gone[i] {
			orgs = append(orgs, string(id))
		}
	}
	return orgs, stored(err)
}

// MemberPage reads up to limit members after a cursor and appends the items
// to dst.
func (t Tx) MemberPage(orgID string, at Cursor, limit int, dst []byte) (Page, error) {
	return t.page(memberList, orgID, rows.Range{Bounds: after(orgID, at), Limit: limit}, dst)
}

// ListMembers reads up to limit complete members after a cursor; MemberPage has
// only the fields of the API. The page's Items are empty.
func (t Tx) ListMembers(orgID string, at Cursor, limit int) (page Page, list []Member, err error) {
	list, err = members.List(t.Tx, rows.Range{Index: byPosition, Bounds: after(orgID, at), Limit: oneMore(limit)})
	if page.More = len(list) > limit; page.More {
		list = list[:limit]
	}
	if page.Count = len(list); page.Count > 0 {
		last := list[page.Count-1]
		page.Last = CursorOf(last.CreatedAt, last.ID)
	}
	return page, list, stored(err)
}
