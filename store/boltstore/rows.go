package boltstore

import (
	"bytes"
	"errors"
	"slices"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/rows"
)

// A kind of rows is a bucket of its name, with the values under their keys, and a bucket
// for each index: an entry's key → its value, or nothing. Indexes of the same name share
// theirs. Those of a kind with a Span are in partitions, see expiring.go.

var _ rows.Rows = (*tx)(nil)

// rowKinds are the kinds of rows in a file.
var rowKinds = rows.Kinds()

// rowBuckets are the buckets of a kind: that of the rows, then those of its indexes.
func rowBuckets(k *rows.Kind) [][]byte {
	names := [][]byte{[]byte(k.Name)}
	for _, x := range k.Indexes {
		names = append(names, []byte(x.Name))
	}
	return names
}

// rowNames are the buckets of all kinds, by their places.
var rowNames = func() [][][]byte {
	names := make([][][]byte, rows.Places())
	for _, k := range rowKinds {
		names[k.Place] = rowBuckets(k)
	}
	return names
}()

// allRowBuckets are the buckets of all kinds, each once.
func allRowBuckets() [][]byte {
	names := slices.Concat(rowNames...)
	slices.SortFunc(names, bytes.Compare)
	return slices.CompactFunc(names, bytes.Equal)
}

// opened are the buckets of a kind that were opened to write.
type opened [1 + rows.MaxIndexes]*bbolt.Bucket

// of opens the bucket of an index, or of the rows; nil: an earlier teamdata did not have
// it, see hasBuckets. Who writes opens each only once in a commit.
func (t *tx) of(k *rows.Kind, index int) *bbolt.Bucket {
	if t.writing == nil {
		return t.readBucket(rowNames[k.Place][1+index])
	}
	b := &t.opened[k.Place][1+index]
	if *b == nil {
		*b = t.bucket(rowNames[k.Place][1+index])
	}
	return *b
}

func (t *tx) Get(k *rows.Kind, key []byte) ([]byte, error) {
	if k.Span > 0 {
		return t.getExpiring(k, key)
	}
	if b := t.of(k, rows.ByKey); b != nil {
		return b.Get(key), nil
	}
	return nil, nil
}

func (t *tx) Gets(k *rows.Kind, keys [][]byte, fn func(i int, value []byte) error) error {
	for i, key := range keys {
		value, err := t.Get(k, key)
		if err == nil && value != nil {
			err = fn(i, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errReadOnly = errors.New("a View can't write")

// Write leaves the entries that stay, which costs nothing in a file.
func (t *tx) Write(k *rows.Kind, r *rows.Row) error {
	if t.writing == nil {
		return storageFault(errReadOnly)
	}
	if k.Span > 0 {
		return t.writeExpiring(k, r)
	}
	b, was := t.of(k, rows.ByKey), r.Was
	if !r.New && was == nil {
		was = b.Get(r.Key)
	}
	if was == nil && r.Value == nil {
		return nil
	}
	if err := t.writeEntries(k, r, was); err != nil {
		return err
	}
	if r.Value == nil {
		return t.remove(b, r.Key, was)
	}
	return t.replace(b, r.Key, was, r.Value)
}

// writeEntries writes the entries of a row whose value was another one; nil: there was
// none.
func (t *tx) writeEntries(k *rows.Kind, r *rows.Row, was []byte) error {
	if len(k.Indexes) == 0 {
		return nil
	}
	old := &t.entries
	if clear(old[:]); was != nil {
		if err := k.Entries(&t.rows, r.Key, was, true, old); err != nil {
			return storageFault(err)
		}
	}
	for i := range k.Indexes {
		if err := t.writeEntry(t.of(k, i), old[i].Key, &r.Entries[i], r.Value == nil); err != nil {
			return err
		}
	}
	return nil
}

// writeEntry puts an entry in place of that under an old key; nil: there was none.
func (t *tx) writeEntry(b *bbolt.Bucket, old []byte, e *rows.Entry, gone bool) error {
	stays := !gone && old != nil && bytes.Equal(old, e.Key)
	if old != nil && !stays {
		if err := t.delete(b, old); err != nil {
			return err
		}
	}
	switch {
	case gone || e.Key == nil:
		return nil
	case !stays:
		return t.replace(b, e.Key, nil, stored(e.Value))
	}
	was := b.Get(e.Key)
	if was != nil && bytes.Equal(was, e.Value) {
		return nil
	}
	return t.replace(b, e.Key, was, stored(e.Value))
}

// stored is a value as bbolt keeps it: what is nil would not be found before the commit.
func stored(value []byte) []byte {
	if value == nil {
		return []byte{}
	}
	return value
}

// Last needs only to look: nothing is written behind what is read.
func (t *tx) Last(k *rows.Kind, index int, prefix []byte) ([]byte, error) {
	b := t.of(k, index)
	if b == nil {
		return nil, nil
	}
	return lastIn(b.Cursor(), rows.Within(prefix)), nil
}

func (t *tx) Next(k *rows.Kind) (uint64, error) {
	n, err := t.of(k, rows.ByKey).NextSequence()
	return n, storageFault(err)
}

func (t *tx) Sealing() rows.Sealing { return t.s.seal }

// Rewritable is as much as an attempt may add to a delivery.
func (t *tx) Rewritable() int { return store.MaxKeptAnswer }

// Changed is nothing in a View, which can't write.
func (t *tx) Changed() *rows.Changes {
	if t.writing == nil {
		return &rows.Changes{}
	}
	return &t.Changes
}
