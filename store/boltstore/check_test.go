package boltstore

import (
	"bytes"
	"testing"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

// wellKept holds a closed file to bbolt's own check and to what its buckets
// say of one another.
func wellKept(t testing.TB, path string) {
	t.Helper()
	db, err := bbolt.Open(path, fileMode, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			t.Error("bbolt: ", err)
		}
		c := indexCheck{tx: tx, fail: t.Errorf}
		c.deliveries()
		c.endpoints()
		c.members()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// indexCheck compares each record with its entries in the indexes. Where both
// sides count the same and each entry of one is found in the other, each entry
// of the other is found in the one.
type indexCheck struct {
	tx   *bbolt.Tx
	fail func(format string, args ...any)
}

func (c *indexCheck) each(bucket []byte, fn func(key, value []byte)) (n int) {
	cursor := c.tx.Bucket(bucket).Cursor()
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		fn(key, value)
		n++
	}
	return n
}

func (c *indexCheck) has(bucket, key []byte) bool { return c.tx.Bucket(bucket).Get(key) != nil }

func (c *indexCheck) read(record []byte, fields func(*codec)) {
	if err := decode(record, fields); err != nil {
		c.fail("record %q: %v", record, err)
	}
}

func (c *indexCheck) deliveries() {
	waiting := 0
	c.each(bucketDeliveries, func(key, record []byte) {
		var d store.Delivery
		c.read(record, deliveryFields(&d))
		if d.ID != string(key) || !c.has(bucketEvents, []byte(d.EventID)) {
			c.fail("delivery %s: %+v has not its event", key, d)
		}
		if d.State.Waiting() {
			waiting++
			if !c.has(bucketDue, dueKey(d.EndpointNumber, uint64(d.DueAt.UnixMilli()), d.ID)) {
				c.fail("delivery %s waits and is not in the due index", d.ID)
			}
		}
	})
	if due := c.each(bucketDue, func(_, _ []byte) {}); due != waiting {
		c.fail("%d entries in the due index, %d deliveries wait", due, waiting)
	}
}

func (c *indexCheck) endpoints() {
	endpoints := c.each(bucketEndpoints, func(key, record []byte) {
		var e store.Endpoint
		c.read(record, endpointFields(&e))
		if named := c.tx.Bucket(bucketEndpointNumbers).Get(numberKey(e.Number)); !bytes.Equal(named, key) {
			c.fail("endpoint %d is %q in one bucket and %q in the other", e.Number, key, named)
		}
	})
	if numbers := c.each(bucketEndpointNumbers, func(_, _ []byte) {}); numbers != endpoints {
		c.fail("%d endpoint numbers, %d endpoints", numbers, endpoints)
	}
}

func (c *indexCheck) members() {
	owners := 0
	members := c.each(bucketMembers, func(key, record []byte) {
		var m store.Member
		c.read(record, memberFields(&m))
		item := c.tx.Bucket(bucketMemberList).Get(listKey(m.OrgID, store.CursorOf(m.CreatedAt, m.ID)))
		if string(item) != string(m.AppendJSON(nil)) {
			c.fail("member %q is %+v in one bucket and %s in the list", key, m, item)
		}
		if isOwner := m.Role == store.RoleOwner; isOwner != c.has(bucketOwners, key) {
			c.fail("member %q is %s, and the owners don't agree", key, m.Role)
		} else if isOwner {
			owners++
		}
	})
	if listed := c.each(bucketMemberList, func(_, _ []byte) {}); listed != members {
		c.fail("%d members in the list, %d members", listed, members)
	}
	if n := c.each(bucketOwners, func(_, _ []byte) {}); n != owners {
		c.fail("%d owners in the index, %d owners", n, owners)
	}
}

// TestCheckNotices keeps the check itself honest.
func TestCheckNotices(t *testing.T) {
	for _, bucket := range [][]byte{bucketDue, bucketEvents, bucketEndpointNumbers, bucketOwners, bucketMemberList} {
		t.Run(string(bucket), func(t *testing.T) {
			f := newFixture(t, Options{NoSync: true})
			f.update(func(tx store.Tx) error {
				if _, err := store.SendTest(tx, testOrg, "whe_1"); err != nil {
					return err
				}
				_, err := store.ImportMember(tx, store.Member{OrgID: testOrg, UserID: "usr_1", Role: store.RoleOwner})
				return err
			})
			noticed := false
			must(t, f.db.Update(func(tx *bbolt.Tx) error {
				first, _ := tx.Bucket(bucket).Cursor().First()
				must(t, tx.Bucket(bucket).Delete(bytes.Clone(first)))
				c := indexCheck{tx, func(format string, args ...any) {
					t.Logf(format, args...)
					noticed = true
				}}
				c.deliveries()
				c.endpoints()
				c.members()
				return nil
			}))
			if !noticed {
				t.Error("an entry was lost, and the check says nothing")
			}
		})
	}
}
