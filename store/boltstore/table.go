package boltstore

import (
	"fmt"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

// table is a bucket whose values are records of one kind.
type table[T any] struct {
	bucket  []byte
	noun    string                 // in: There is no such …
	fields  func(*codec, *T)       // in the order of the record; new ones go to the end
	secrets func(*T) []secretField // that are sealed; nil: there are none
}

// get reads a record. notFound: there is none.
func (b table[T]) get(t *tx, key []byte) (record T, err error) {
	if err = b.sealed(t, key, &record); err == nil {
		err = b.open(t, key, &record)
	}
	return record, err
}

// sealed reads a record as it is kept, with its secrets sealed.
func (b table[T]) sealed(t *tx, key []byte, record *T) error {
	value := t.bolt.Bucket(b.bucket).Get(key)
	if value == nil {
		return b.missing()
	}
	return storageFault(decode(value, of(b.fields, record)))
}

// open opens the secrets of a record that was read as it is kept.
func (b table[T]) open(t *tx, key []byte, record *T) error {
	if b.secrets == nil {
		return nil
	}
	return storageFault(t.s.seal.openFields(b.bucket, key, b.secrets(record)))
}

func (b table[T]) missing() error {
	return store.Errorf(store.CodeNotFound, "There is no such %s.", b.noun)
}

// put adds a record or replaces it.
func (b table[T]) put(t *tx, key []byte, record T) error {
	if b.secrets != nil {
		t.s.seal.sealFields(b.bucket, key, b.secrets(&record))
	}
	return t.put(t.bucket(b.bucket), key, encode(of(b.fields, &record)))
}

// insert adds a record under a key that is not in use.
func (b table[T]) insert(t *tx, key []byte, record T) error {
	return t.insert(t.bucket(b.bucket), key, encode(of(b.fields, &record)))
}

func (b table[T]) delete(t *tx, key []byte) error { return t.delete(t.bucket(b.bucket), key) }

// all is a limit that no list reaches.
const all = int(^uint(0) >> 1)

// list reads up to limit records behind a key; from the first when that is empty.
func (b table[T]) list(t *tx, after string, limit int) (list []T, err error) {
	c := t.bolt.Bucket(b.bucket).Cursor()
	key, value := c.Seek([]byte(after))
	if after != "" && string(key) == after {
		key, value = c.Next()
	}
	for ; key != nil && len(list) < limit; key, value = c.Next() {
		var record T
		if err := decode(value, of(b.fields, &record)); err != nil {
			return nil, storageFault(err)
		}
		list = append(list, record)
	}
	return list, nil
}

// check holds each record to its form, calls fn with it unless that is nil, and
// counts them.
func (b table[T]) check(c *checker, fn func(key []byte, record *T)) int {
	return c.each(b.bucket, func(key, value []byte) {
		record := new(T)
		c.read(b.bucket, key, value, of(b.fields, record))
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
		if err := decode(bucket.Get(key), of(b.fields, &record)); err != nil {
			return &boltfile.Error{Text: fmt.Sprintf("can't be sealed, for its record %s %q is damaged", b.bucket, key), Advice: "put back a backup"}
		}
		s.sealFields(b.bucket, key, b.secrets(&record))
		if err := bucket.Put(key, encode(of(b.fields, &record))); err != nil {
			return err
		}
	}
	return nil
}
