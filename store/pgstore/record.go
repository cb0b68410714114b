package pgstore

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// records is a table of records of one kind: keys of text, perhaps columns made of
// the record, and the record.
type records[T any] struct {
	*table
	noun   string // in: There is no such …
	fields func(*rows.Codec, *T)
	made   func(*T) row // the columns made of the record; nil: none
}

func keyOf(parts []string) row {
	key := make(row, len(parts))
	for i, part := range parts {
		key[i] = plain(part)
	}
	return key
}

// get reads a record. notFound: there is none.
func (r records[T]) get(t *tx, key ...string) (record T, err error) {
	found, err := t.get(r.table, keyOf(key)...)
	if err != nil {
		return record, err
	}
	if found == nil {
		return record, r.missing()
	}
	return r.read(found)
}

func (r records[T]) missing() error {
	return store.Errorf(store.CodeNotFound, "There is no such %s.", r.noun)
}

// read reads the record of a row.
func (r records[T]) read(found row) (T, error) {
	record, err := rows.Decode(found[len(found)-1], r.fields)
	return record, fault(err)
}

// put adds or replaces a record.
func (r records[T]) put(t *tx, record T, key ...string) error {
	return t.put(r.table, r.row(record, key))
}

// insert adds a record under an unused key.
func (r records[T]) insert(t *tx, record T, key ...string) error {
	return t.insert(r.table, r.row(record, key))
}

// row is a record as it is stored.
func (r records[T]) row(record T, key []string) row {
	values := append(make(row, 0, len(r.cols)), keyOf(key)...)
	if r.made != nil {
		values = append(values, r.made(&record)...)
	}
	return append(values, rows.Encode(r.fields, record))
}

func (r records[T]) remove(t *tx, key ...string) error { return t.remove(r.table, keyOf(key)...) }

// all is a limit that no list reaches.
const all = int(^uint(0) >> 1)
