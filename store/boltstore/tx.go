package boltstore

import (
	"bytes"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/rows"
)

// fillPercent packs pages densely: nearly every insert lands at the end of its
// bucket or of its org's range.
const fillPercent = 0.9

// tx is a transaction of the engine: store.Tx on one bbolt transaction. Several
// Updates share both in turn; undo is what to restore if the current one fails.
type tx struct {
	s       *Store
	bolt    *bbolt.Tx
	read    *bbolt.Bucket // the one that readBucket opened last
	name    []byte        // its name
	now     time.Time
	undo    []change // in Store.undo
	dropped bool     // an empty bucket was dropped, which needs no undo
	unread  bool     // it needs more of the index of idempotency keys than is read
	rows.Changes

	countedBefore int // how many of Store.counted are of earlier updates
}

// change is one write, with what was there before it.
type change struct {
	bucket *bbolt.Bucket
	key    []byte
	old    []byte // nil: nothing
}

type dueAt struct {
	endpoint uint64
	at       time.Time
}

// begin begins an update.
func (t *tx) begin() {
	t.now, t.undo, t.dropped, t.unread, t.countedBefore = t.s.now(), t.s.undo[:0], false, false, len(t.s.counted)
}

func (t *tx) Now() time.Time { return t.now }

func (t *tx) NewID(prefix string) string { return t.s.ids.Next(prefix, t.now) }

func (t *tx) bucket(name []byte) *bbolt.Bucket {
	b := t.bolt.Bucket(name)
	b.FillPercent = fillPercent
	return b
}

// readBucket opens a bucket to read from it. The same one again costs nothing, as
// when a list is read record by record.
func (t *tx) readBucket(name []byte) *bbolt.Bucket {
	if t.read == nil || !bytes.Equal(t.name, name) {
		t.read, t.name = t.bolt.Bucket(name), name
	}
	return t.read
}

// insert writes under an unused key.
func (t *tx) insert(b *bbolt.Bucket, key, value []byte) error {
	t.undo = append(t.undo, change{b, key, nil})
	return storageFault(b.Put(key, value))
}

// put writes under a key that may be in use.
func (t *tx) put(b *bbolt.Bucket, key, value []byte) error {
	return t.replace(b, key, b.Get(key), value)
}

// replace writes under a key whose current value is old.
func (t *tx) replace(b *bbolt.Bucket, key, old, value []byte) error {
	t.undo = append(t.undo, change{b, key, old})
	return storageFault(b.Put(key, value))
}

func (t *tx) delete(b *bbolt.Bucket, key []byte) error {
	t.undo = append(t.undo, change{b, key, b.Get(key)})
	return storageFault(b.Delete(key))
}

// rollback undoes only this transaction's writes, last first.
func (t *tx) rollback() error {
	t.s.counted = t.s.counted[:t.countedBefore]
	for i := len(t.undo) - 1; i >= 0; i-- {
		c := t.undo[i]
		var err error
		if c.old == nil {
			err = c.bucket.Delete(c.key)
		} else {
			err = c.bucket.Put(c.key, c.old)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// storageFault wraps an error of the engine for callers, who can do nothing about it.
func storageFault(err error) error {
	if err == nil {
		return nil
	}
	return store.Unavailable(err)
}

// lastBefore returns the last key before end, or nil if that lacks the prefix.
func lastBefore(c *bbolt.Cursor, prefix, end []byte) []byte {
	key, _ := c.Seek(end)
	if key == nil {
		key, _ = c.Last()
	} else {
		key, _ = c.Prev()
	}
	if !bytes.HasPrefix(key, prefix) {
		return nil
	}
	return key
}

// firstKeys returns up to limit keys with a prefix.
func firstKeys(b *bbolt.Bucket, prefix []byte, limit int) [][]byte {
	var keys [][]byte
	c := b.Cursor()
	for key, _ := c.Seek(prefix); key != nil && bytes.HasPrefix(key, prefix) && len(keys) < limit; key, _ = c.Next() {
		keys = append(keys, bytes.Clone(key))
	}
	return keys
}

// dropKeys deletes the records of some keys, and returns how many they are.
func (t *tx) dropKeys(b *bbolt.Bucket, keys [][]byte) (int, error) {
	for i, key := range keys {
		if err := t.delete(b, key); err != nil {
			return i, err
		}
	}
	return len(keys), nil
}

func unlessNotFound(err error) error {
	if store.IsNotFound(err) {
		return nil
	}
	return err
}
