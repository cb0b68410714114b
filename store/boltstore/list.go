package boltstore

import (
	"bytes"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

// place fills in the missing parts of a list item's position and returns its key.
// A position assigned here follows every other that the list ever had, even if
// the clock stepped back or an import brought items of the future. A complete
// position is kept. conflict: another item has it.
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

// lastPosition returns the greatest position that a list of the org has or ever
// had.
func (t *tx) lastPosition(b *bbolt.Bucket, orgID string) (last store.Cursor) {
	if key := lastBefore(b.Cursor(), orgKey(orgID, ""), orgEnd(orgID)); key != nil {
		last = cursorOf(orgID, key)
	}
	if key := t.bolt.Bucket(bucketLastRemoved).Get([]byte(orgID)); key != nil {
		if removed := cursorOf(orgID, key); removed.Compare(last) > 0 {
			last = removed
		}
	}
	return last
}

// newest returns the newest time in the positions of all lists and in the ids,
// which everything added later follows. It costs two seeks per org.
func (t *tx) newest() time.Time {
	ms := uint64(0)
	orgs := t.bolt.Bucket([]byte(store.KindOrg)).Cursor()
	for key, _ := orgs.First(); key != nil; key, _ = orgs.Next() {
		for _, list := range [][]byte{bucketMemberList, bucketAuditLog} {
			ms = max(ms, t.lastPosition(t.bolt.Bucket(list), string(key)).Ms)
		}
	}
	for _, name := range rising {
		if last, _ := t.bolt.Bucket(name).Cursor().Last(); last != nil {
			at, _ := store.IDTime(string(last))
			ms = max(ms, at)
		}
	}
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}

// NewestTime returns the newest time in a data file that no program has open, as
// in [About]; zero if the schema differs. It changes nothing.
func NewestTime(path string) (newest time.Time, err error) {
	err = boltfile.Read(path, func(db *bbolt.DB) error {
		if found, err := schemaOf(db); err != nil || found != schemaVersion() {
			return err
		}
		return db.View(func(bolt *bbolt.Tx) error {
			newest = newTx(nil, bolt, nil).newest()
			return nil
		})
	})
	return newest, err
}

// keepLastRemoved keeps the position of an item that is about to be removed, if
// nothing in the list follows it.
func (t *tx) keepLastRemoved(b *bbolt.Bucket, orgID string, key []byte) error {
	if t.lastPosition(b, orgID).Compare(cursorOf(orgID, key)) > 0 {
		return nil
	}
	return t.put(t.bucket(bucketLastRemoved), []byte(orgID), key)
}

// page copies up to limit items after a cursor, with commas between them.
func (t *tx) page(bucket []byte, orgID string, after store.Cursor, limit int, dst []byte) (store.Page, error) {
	c := t.bolt.Bucket(bucket).Cursor()
	key, item := seekAfter(c, orgID, after)
	return copyPage(orgID, key, item, c.Next, limit, dst)
}

// copyPage copies up to limit items of an org, with commas between them, from the
// given one on, advancing with step.
func copyPage(orgID string, key, item []byte, step func() (key, item []byte), limit int, dst []byte) (store.Page, error) {
	var page store.Page
	var last []byte
	n := 0
	for ; isOf(orgID, key); key, item = step() {
		if n == limit {
			page.More = true
			break
		}
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, item...)
		n++
		last = key
	}
	if last != nil {
		page.Last = cursorOf(orgID, last)
	}
	page.Items, page.Count = dst, n
	return page, nil
}

// isOf reports whether a key begins with orgKey(orgID, "").
func isOf(orgID string, key []byte) bool {
	n := len(orgID)
	return len(key) > n && key[n] == 0 && string(key[:n]) == orgID
}

// seekAfter finds the first item after the cursor.
func seekAfter(c *bbolt.Cursor, orgID string, after store.Cursor) (key, item []byte) {
	from := listKey(orgID, after)
	key, item = c.Seek(from)
	if bytes.Equal(key, from) {
		key, item = c.Next()
	}
	return key, item
}

// pageBefore copies up to limit items before a cursor, latest first.
func (t *tx) pageBefore(bucket []byte, orgID string, before store.Cursor, limit int, dst []byte) (store.Page, error) {
	b, end := t.bolt.Bucket(bucket), orgEnd(orgID)
	if before != (store.Cursor{}) {
		end = listKey(orgID, before)
	}
	c := b.Cursor()
	key := lastBefore(c, orgKey(orgID, ""), end)
	return copyPage(orgID, key, b.Get(key), c.Prev, limit, dst)
}

func (c *checker) lastRemoved() {
	c.each(bucketLastRemoved, func(org, key []byte) {
		prefix := orgKey(string(org), "")
		if !bytes.HasPrefix(key, prefix) || len(key) < len(prefix)+8 {
			c.fault("lastRemoved %q: %q is not a position of that org", org, key)
		}
	})
}
