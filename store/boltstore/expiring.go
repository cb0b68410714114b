package boltstore

import (
	"bytes"
	"math"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store/rows"
)

// Rows of a kind with a Span are in buckets of their own in that of the kind, one for each
// partition: number of the partition → a bucket with the rows of that span of time. In it
// they are under their positions, as numbers, in the order in which they came; beyond
// maxIndexed under their keys. A keyIndex finds them.

// expiringKinds are the kinds with a Span.
var expiringKinds = slices.DeleteFunc(rows.Kinds(), func(k *rows.Kind) bool { return k.Span == 0 })

// key returns the key of a row in its partition.
func (at keyPlace) key(own []byte) []byte {
	if at.position == 0 {
		return own
	}
	return numberKey(uint64(at.position))
}

// getExpiring gives up if it finds nothing while the index is still being read: Update
// and View then wait, outside of a transaction, and run it again.
func (t *tx) getExpiring(k *rows.Kind, key []byte) ([]byte, error) {
	b := t.of(k, rows.ByKey)
	if b == nil {
		return nil, nil
	}
	places, all := t.s.keys.find(k, t.s.keys.hash(key), make([]keyPlace, 0, 8))
	for _, at := range places {
		if _, value, err := at.row(b, k, key); value != nil || err != nil {
			return value, err
		}
	}
	return nil, t.allRead(all)
}

// row reads the row of a key at a place; nil: another key's is there, or none.
func (at keyPlace) row(b *bbolt.Bucket, k *rows.Kind, key []byte) (partition *bbolt.Bucket, value []byte, err error) {
	if partition = b.Bucket(numberKey(at.partition)); partition == nil {
		return nil, nil, nil
	}
	if value = partition.Get(at.key(key)); value == nil {
		return nil, nil, nil
	}
	own, err := k.KeyOf(make([]byte, 0, 64), value)
	if err != nil || !bytes.Equal(own, key) {
		return nil, nil, storageFault(err)
	}
	return partition, value, nil
}

// allRead is the error of who finds nothing where not all is read.
func (t *tx) allRead(all bool) error {
	if all {
		return nil
	}
	t.unread = true
	return errUnread
}

// dropExpiring deletes the rows of a key. It gives up while the index is being read, as
// getExpiring does.
func (t *tx) dropExpiring(k *rows.Kind, key []byte) error {
	b := t.of(k, rows.ByKey)
	places, all := t.s.keys.find(k, t.s.keys.hash(key), nil)
	for _, at := range places {
		partition, value, err := at.row(b, k, key)
		if err == nil && value != nil {
			err = t.remove(partition, at.key(key), value)
		}
		if err != nil {
			return err
		}
	}
	return t.allRead(all)
}

// writeExpiring adds a row to its partition, or deletes those of its key.
func (t *tx) writeExpiring(k *rows.Kind, r *rows.Row) error {
	if r.Value == nil {
		return t.dropExpiring(k, r.Key)
	}
	number := rows.Partition(k, r.At)
	b, name := t.of(k, rows.ByKey), numberKey(number)
	partition := b.Bucket(name) // most of the time it is there, and open
	if partition == nil {
		var err error
		if partition, err = b.CreateBucket(name); err != nil {
			return storageFault(err)
		}
	}
	partition.FillPercent = fillPercent
	key := r.Key
	if position := t.s.keys.add(k, number, partition, t.s.keys.hash(key)); position > 0 {
		key = numberKey(uint64(position))
	}
	return t.replace(partition, key, nil, r.Value)
}

// Expire empties the oldest partition in which all has expired, and drops empty ones.
func (t *tx) Expire(k *rows.Kind, before time.Time, limit int) (int, error) {
	if limit < 1 {
		return 0, nil
	}
	b, end := t.of(k, rows.ByKey), rows.Partition(k, before)
	for _, name := range firstKeys(b, math.MaxInt) {
		if rows.ReadNumber(name) >= end {
			break
		}
		if keys := firstKeys(b.Bucket(name), limit); len(keys) > 0 {
			return t.dropKeys(b.Bucket(name), keys)
		}
		if len(t.undo) > 0 { // a rollback may still need the bucket
			continue
		}
		if err := b.DeleteBucket(name); err != nil {
			return 0, storageFault(err)
		}
		t.s.keys.drop(k, rows.ReadNumber(name)) // whatever comes of the commit: it holds nothing that counts
		t.dropped = true
	}
	return 0, nil
}

// partitions checks the form of the partitions of a kind, and calls fn with each row in
// them.
func (c *checker) partitions(k *rows.Kind, b *bbolt.Bucket, fn func(key, value []byte)) int {
	return c.each(b, func(name, _ []byte) {
		partition := b.Bucket(name)
		if partition == nil || len(name) != 8 {
			c.fault("%s %q: is not a partition", k.Name, name)
			return
		}
		c.each(partition, func(at, value []byte) {
			key, err := k.KeyOf(nil, value)
			if err != nil {
				c.fault("%s %q: the record is damaged", k.Name, at)
				return
			}
			if _, ok := positionOf(at); !ok && !bytes.Equal(at, key) {
				c.fault("%s %q: holds the record of %q", k.Name, at, key)
			}
			fn(key, value)
		})
	})
}
