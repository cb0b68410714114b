package boltstore

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// table is a bucket whose values are records of one kind.
type table[T any] struct {
	bucket []byte
	noun   string                // in: There is no such …
	fields func(*rows.Codec, *T) // in record order; new ones go to the end
}

// get reads a record. notFound: there is none.
func (b table[T]) get(t *tx, key []byte) (record T, err error) {
	value := t.readBucket(b.bucket).Get(key)
	if value == nil {
		return record, b.missing()
	}
	record, err = rows.Decode(value, b.fields)
	return record, storageFault(err)
}

func (b table[T]) missing() error {
	return store.Errorf(store.CodeNotFound, "There is no such %s.", b.noun)
}

// insert adds a record under an unused key.
func (b table[T]) insert(t *tx, key []byte, record T) error {
	return t.insert(t.bucket(b.bucket), key, rows.Encode(b.fields, record))
}

func (b table[T]) delete(t *tx, key []byte) error { return t.delete(t.bucket(b.bucket), key) }

// check checks the form of each record, calls fn with it if fn is not nil, and
// counts them.
func (b table[T]) check(c *checker, fn func(key []byte, record *T)) int {
	return c.each(b.bucket, func(key, value []byte) {
		record := readRecord(c, b.bucket, key, value, b.fields)
		if fn != nil {
			fn(key, &record)
		}
	})
}
