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

// tx is a transaction of the engine: store.Tx on one bbolt transaction. Each View makes
// one, so that what only writers need stands elsewhere.
type tx struct {
	store.Tx
	*writing // nil in a View
	s        *Store
	bolt     *bbolt.Tx
	read     *bbolt.Bucket // the one that readBucket opened last
	name     []byte        // its name
	now      time.Time
	unread   bool    // it needs more of the index of keys than is read
	rows     rows.Tx // on it
}

// writing is what a transaction has that writes. Several Updates share it in turn; undo
// is what to restore if the current one fails.
type writing struct {
	rows.Changes
	undo          []change
	dropped       bool // an empty bucket was dropped, which needs no undo
	countedBefore int  // how many of Store.counted are of earlier updates
	opened        []opened
	entries       rows.Entries // scratch space of Write
	records       rows.Writing
}

// change is one write, with what was there before it.
type change struct {
	bucket *bbolt.Bucket
	key    []byte
	old    []byte // nil: nothing
}

// newTx makes a transaction that reads, or with w one that also writes.
func newTx(s *Store, bolt *bbolt.Tx, w *writing) *tx {
	t := &tx{s: s, bolt: bolt, writing: w}
	t.Tx = store.Tx{Tx: &t.rows, Apart: t}
	if w == nil {
		t.rows.On(t, nil)
		return t
	}
	if w.Changes = (rows.Changes{}); w.opened == nil {
		w.opened = make([]opened, rows.Places())
	}
	t.rows.On(t, &w.records)
	return t
}

// end leaves nothing of a transaction that has ended in memory but space for the next.
func (w *writing) end() {
	clear(w.opened)
	clear(w.entries[:])
	w.records.Reuse()
	w.reuseUndo()
}

// maxUndo is the number of changes whose space is kept between updates.
const maxUndo = 1024

// reuseUndo keeps the space of a finished undo log for the next one.
func (w *writing) reuseUndo() {
	if clear(w.undo); cap(w.undo) > maxUndo {
		w.undo = nil
	}
	w.undo = w.undo[:0]
}

// begin begins an update.
func (t *tx) begin() {
	t.now, t.undo, t.dropped, t.unread, t.countedBefore = t.s.Now(), t.undo[:0], false, false, len(t.s.counted)
}

// ownTx is an engine's transaction as its own type.
func ownTx(t store.Tx) *tx { return t.Apart.(*tx) }

func (t *tx) HTTPOnLoopback() bool { return t.s.tests }

func (t *tx) IsClaimed(deliveryID string) bool { return t.s.IsClaimed(deliveryID) }

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

// replace writes under a key whose current value is old; nil: it is not in use.
func (t *tx) replace(b *bbolt.Bucket, key, old, value []byte) error {
	t.undo = append(t.undo, change{b, key, old})
	return storageFault(b.Put(key, value))
}

func (t *tx) delete(b *bbolt.Bucket, key []byte) error { return t.remove(b, key, b.Get(key)) }

// remove deletes a key whose current value is old.
func (t *tx) remove(b *bbolt.Bucket, key, old []byte) error {
	t.undo = append(t.undo, change{b, key, old})
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

// lastIn returns the last key within bounds, or nil.
func lastIn(c *bbolt.Cursor, within rows.Bounds) []byte {
	w := walk{c, rows.Range{Bounds: within, Back: true}}
	key, _ := w.first()
	return key
}

// firstKeys returns up to limit keys.
func firstKeys(b *bbolt.Bucket, limit int) [][]byte {
	var keys [][]byte
	c := b.Cursor()
	for key, _ := c.First(); key != nil && len(keys) < limit; key, _ = c.Next() {
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
