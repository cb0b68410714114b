package boltstore

import (
	"bytes"
	"fmt"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

// table is a bucket whose values are records of one kind.
type table[T any] struct {
	bucket  []byte
	noun    string                 // in: There is no such …
	fields  func(*T) func(*codec)  // in the order of the record; new ones go to the end
	secrets func(*T) []secretField // those that are sealed in a sealed file; nil: none
}

// get reads a record and opens its secrets. notFound: there is none.
func (b table[T]) get(t *tx, key []byte) (record T, err error) {
	if record, err = b.getSealed(t, key); err != nil {
		return record, err
	}
	return record, b.open(t, key, &record)
}

// getSealed reads a record and leaves its secrets sealed.
func (b table[T]) getSealed(t *tx, key []byte) (record T, err error) {
	value := t.bolt.Bucket(b.bucket).Get(key)
	if value == nil {
		return record, b.missing()
	}
	return record, storageFault(decode(value, b.fields(&record)))
}

func (b table[T]) missing() error {
	return store.Errorf(store.CodeNotFound, "There is no such %s.", b.noun)
}

func (b table[T]) open(t *tx, key []byte, record *T) error {
	if b.secrets == nil {
		return nil
	}
	return storageFault(t.s.seal.openFields(b.bucket, key, b.secrets(record)))
}

// encode is what the file holds of a record. Its secrets are sealed by that.
func (b table[T]) encode(s sealing, key []byte, record *T) []byte {
	if b.secrets != nil {
		s.sealFields(b.bucket, key, b.secrets(record))
	}
	return encode(b.fields(record))
}

// put adds a record or replaces it.
func (b table[T]) put(t *tx, key []byte, record T) error {
	return t.put(t.bucket(b.bucket), key, b.encode(t.s.seal, key, &record))
}

// insert adds a record under a key that is not in use.
func (b table[T]) insert(t *tx, key []byte, record T) error {
	return t.insert(t.bucket(b.bucket), key, b.encode(t.s.seal, key, &record))
}

func (b table[T]) delete(t *tx, key []byte) error { return t.delete(t.bucket(b.bucket), key) }

// all is a limit that no list reaches.
const all = int(^uint(0) >> 1)

// list reads up to limit records behind a key; from the first when that is empty.
func (b table[T]) list(t *tx, after []byte, limit int) (list []T, err error) {
	c := t.bolt.Bucket(b.bucket).Cursor()
	key, value := c.Seek(after)
	if len(after) > 0 && bytes.Equal(key, after) {
		key, value = c.Next()
	}
	for ; key != nil && len(list) < limit; key, value = c.Next() {
		if list, err = b.append(t, list, key, value); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// listOf reads the records whose keys begin with a prefix.
func (b table[T]) listOf(t *tx, prefix []byte) (list []T, err error) {
	c := t.bolt.Bucket(b.bucket).Cursor()
	for key, value := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, value = c.Next() {
		if list, err = b.append(t, list, key, value); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (b table[T]) append(t *tx, list []T, key, value []byte) ([]T, error) {
	list = append(list, *new(T))
	record := &list[len(list)-1]
	if err := decode(value, b.fields(record)); err != nil {
		return nil, storageFault(err)
	}
	return list, b.open(t, key, record)
}

// check holds each record to its form, calls fn with it unless that is nil, and
// counts them.
func (b table[T]) check(c *checker, fn func(key []byte, record *T)) int {
	return c.each(b.bucket, func(key, value []byte) {
		record := new(T)
		c.read(b.bucket, key, value, b.fields(record))
		if fn != nil {
			fn(key, record)
		}
	})
}

// sealAll seals what the records hold in plain text.
func (b table[T]) sealAll(s sealing, bolt *bbolt.Tx) error {
	bucket := bolt.Bucket(b.bucket)
	for _, key := range allKeys(bucket) {
		var record T
		if err := decode(bucket.Get(key), b.fields(&record)); err != nil {
			return &boltfile.Error{Text: fmt.Sprintf("can't be sealed, for its record %s %q is damaged", b.bucket, key), Advice: "put back a backup"}
		}
		if err := bucket.Put(key, b.encode(s, key, &record)); err != nil {
			return err
		}
	}
	return nil
}
