package boltstore

import (
	"bytes"
	"errors"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

// place gives a list item what is missing of its position, and returns its key.
// A position that is given here follows every other that the list ever had,
// also when the clock stepped back or an import brought items of the future. A
// position that was brought along stays, unless another item has it: conflict.
func (t *tx) place(b *bbolt.Bucket, orgID, prefix string, id *string, createdAt *time.Time) ([]byte, error) {
	at := store.Cursor{Ms: uint64(t.now.UnixMilli()), ID: *id}
	if at.ID == "" {
		at.ID = t.NewID(prefix)
	}
	if !createdAt.IsZero() {
		at.Ms = uint64(createdAt.UnixMilli())
	} else if last := t.lastPosition(b, orgID); at.Ms <= last.Ms {
		if at.Ms = last.Ms; at.ID <= last.ID {
			at.Ms++
		}
	}
	key := listKey(orgID, at)
	if !createdAt.IsZero() && b.Get(key) != nil {
		return nil, store.Errorf(store.CodeConflict, "The list has an item %s of that time already.", at.ID)
	}
	*id, *createdAt = at.ID, time.UnixMilli(int64(at.Ms)).UTC()
	return key, nil
}

// lastPosition is the greatest position that a list of the org has, or had
// before its last items were removed.
func (t *tx) lastPosition(b *bbolt.Bucket, orgID string) (last store.Cursor) {
	if key := lastBefore(b.Cursor(), orgKey(orgID, ""), orgEnd(orgID)); key != nil {
		last = cursorOf(orgID, key)
	}
	if key := t.bolt.Bucket(bucketRemovedEnds).Get([]byte(orgID)); key != nil {
		if removed := cursorOf(orgID, key); removed.Compare(last) > 0 {
			last = removed
		}
	}
	return last
}

// keepEnd notes the position of an item that is about to be removed, if nothing
// in the list follows it.
func (t *tx) keepEnd(b *bbolt.Bucket, orgID string, key []byte) error {
	if t.lastPosition(b, orgID).Compare(cursorOf(orgID, key)) > 0 {
		return nil
	}
	return t.put(t.bucket(bucketRemovedEnds), []byte(orgID), key)
}

// page copies up to limit items after a cursor, with commas between them.
func (t *tx) page(bucket []byte, orgID string, after store.Cursor, limit int, dst []byte) (store.Page, error) {
	c := t.bolt.Bucket(bucket).Cursor()
	key, item := seekAfter(c, orgID, after)
	return copyPage(orgID, key, item, c.Next, limit, dst)
}

// copyPage copies up to limit items of an org, with commas between them, step by
// step from one of them on.
func copyPage(orgID string, key, item []byte, step func() (key, item []byte), limit int, dst []byte) (store.Page, error) {
	prefix := orgKey(orgID, "")
	page := store.Page{Items: dst}
	var last []byte
	for ; bytes.HasPrefix(key, prefix); key, item = step() {
		if page.Count == limit {
			page.More = true
			break
		}
		if page.Count > 0 {
			page.Items = append(page.Items, ',')
		}
		page.Items = append(page.Items, item...)
		page.Count++
		last = key
	}
	if last != nil {
		page.Last = cursorOf(orgID, last)
	}
	return page, nil
}

// seekAfter finds the first item behind the cursor.
func seekAfter(c *bbolt.Cursor, orgID string, after store.Cursor) (key, item []byte) {
	from := listKey(orgID, after)
	key, item = c.Seek(from)
	if bytes.Equal(key, from) {
		key, item = c.Next()
	}
	return key, item
}

func (t *tx) AppendAudit(e store.AuditEntry) (store.AuditEntry, error) {
	b := t.bucket(bucketAuditLog)
	key, err := t.place(b, e.OrgID, store.PrefixAudit, &e.ID, &e.CreatedAt)
	if err != nil {
		return store.AuditEntry{}, err
	}
	return e, t.insert(b, key, e.AppendJSON(make([]byte, 0, 192)))
}

func (t *tx) AuditPage(orgID string, after store.Cursor, limit int, dst []byte) (store.Page, error) {
	return t.page(bucketAuditLog, orgID, after, limit, dst)
}

func (t *tx) AuditPageBefore(orgID string, before store.Cursor, limit int, dst []byte) (store.Page, error) {
	b, end := t.bolt.Bucket(bucketAuditLog), orgEnd(orgID)
	if before != (store.Cursor{}) {
		end = listKey(orgID, before)
	}
	c := b.Cursor()
	key := lastBefore(c, orgKey(orgID, ""), end)
	return copyPage(orgID, key, b.Get(key), c.Prev, limit, dst)
}

func (t *tx) Member(orgID, userID string) (m store.Member, err error) {
	return m, t.get(bucketMembers, orgKey(orgID, userID), "member", memberFields(&m))
}

func (t *tx) AppendMember(m store.Member) (store.Member, error) {
	if _, err := t.place(t.bucket(bucketMemberList), m.OrgID, store.PrefixMember, &m.ID, &m.CreatedAt); err != nil {
		return store.Member{}, err
	}
	return m, t.PutMember(m)
}

func (t *tx) PutMember(m store.Member) error {
	t.touched = true
	item := m.AppendJSON(make([]byte, 0, 160))
	if err := t.put(t.bucket(bucketMemberList), listKey(m.OrgID, store.CursorOf(m.CreatedAt, m.ID)), item); err != nil {
		return err
	}
	if err := t.putManager(m); err != nil {
		return err
	}
	return t.put(t.bucket(bucketMembers), orgKey(m.OrgID, m.UserID), encode(memberFields(&m)))
}

// putManager enters a member who manages in the index of them.
func (t *tx) putManager(m store.Member) error {
	if !m.Manages() {
		return t.dropManager(m.OrgID, m.UserID)
	}
	if err := t.put(t.bucket(bucketManagedOrgs), orgKey(m.UserID, m.OrgID), []byte{}); err != nil {
		return err
	}
	return t.put(t.bucket(bucketManagers), orgKey(m.OrgID, m.UserID), []byte(m.Role))
}

func (t *tx) dropManager(orgID, userID string) error {
	if err := t.delete(t.bucket(bucketManagedOrgs), orgKey(userID, orgID)); err != nil {
		return err
	}
	return t.delete(t.bucket(bucketManagers), orgKey(orgID, userID))
}

func (t *tx) DeleteMember(orgID, userID string) error {
	m, err := t.Member(orgID, userID)
	if err != nil {
		return err
	}
	t.touched = true
	list, key := t.bucket(bucketMemberList), listKey(orgID, store.CursorOf(m.CreatedAt, m.ID))
	if err := t.keepEnd(list, orgID, key); err != nil {
		return err
	}
	if err := t.delete(list, key); err != nil {
		return err
	}
	if err := t.dropManager(orgID, userID); err != nil {
		return err
	}
	return t.delete(t.bucket(bucketMembers), orgKey(orgID, userID))
}

func (t *tx) CountOwners(orgID string) (n int, err error) {
	t.eachManager(orgID, func(_, role []byte) {
		if string(role) == store.RoleOwner {
			n++
		}
	})
	return n, nil
}

func (t *tx) Managers(orgID string) (managers []store.Member, err error) {
	t.eachManager(orgID, func(key, _ []byte) {
		var m store.Member
		err = errors.Join(err, t.get(bucketMembers, key, "member", memberFields(&m)))
		managers = append(managers, m)
	})
	return managers, err
}

func (t *tx) eachManager(orgID string, fn func(key, role []byte)) {
	prefix := orgKey(orgID, "")
	c := t.bolt.Bucket(bucketManagers).Cursor()
	for key, role := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, role = c.Next() {
		fn(key, role)
	}
}

func (t *tx) ManagedOrgs(userID string) (orgs []string, err error) {
	prefix := orgKey(userID, "")
	c := t.bolt.Bucket(bucketManagedOrgs).Cursor()
	for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Next() {
		orgs = append(orgs, string(key[len(prefix):]))
	}
	return orgs, nil
}

func (t *tx) MemberPage(orgID string, after store.Cursor, limit int, dst []byte) (store.Page, error) {
	return t.page(bucketMemberList, orgID, after, limit, dst)
}
