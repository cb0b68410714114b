package boltstore

import (
	"bytes"
	"context"

	"teamdata/store"
	"teamdata/store/rows"
)

// Load writes the records in many transactions: it is for a file that nobody uses
// before it is complete, as in [Rebuild].
func (s *Store) Load(ctx context.Context, fill func(store.EachRecord) error) error {
	l := &loader{s: s}
	defer func() {
		if l.tx != nil {
			l.bolt.Rollback()
		}
	}()
	if err := fill(l.put); err != nil {
		return err
	}
	return l.commit()
}

// What a transaction of a loader writes at most: it takes many times of that in memory.
const (
	loadRecords = 5000
	loadSize    = 2 << 20 // bytes
)

// loader writes records, and makes the indexes.
type loader struct {
	s       *Store
	*tx             // nil: none is open
	writing writing // of one after the other
	n       int     // records written in it
	size    int     // and their bytes
}

func (l *loader) put(kind store.Kind, key, record []byte) (err error) {
	if l.tx == nil {
		bolt, err := l.s.db.Begin(true)
		if err != nil {
			return err
		}
		l.tx = newTx(l.s, bolt, &l.writing)
	}
	record = bytes.Clone(record) // the file keeps it until the commit
	if k := rows.Named(string(kind)); k != nil {
		err = l.load(k, bytes.Clone(key), record)
	} else if k := store.NumbersOf(kind); k != nil {
		err = l.loadNumber(k, record)
	} else {
		err = l.bucket([]byte(kind)).Put(key, record)
	}
	l.n++
	l.size += len(key) + len(record)
	if err != nil || l.n < loadRecords && l.size < loadSize {
		return err
	}
	return l.commit()
}

func (l *loader) commit() error {
	if l.tx == nil {
		return nil
	}
	err := l.bolt.Commit()
	l.s.keys.end(err)
	l.writing.end()
	l.tx, l.n, l.size = nil, 0, 0
	return err
}

// load writes a row with its entries. Nothing of it is undone.
func (l *loader) load(k *rows.Kind, key, value []byte) error {
	r, err := k.RowOf(&l.tx.rows, key, value)
	if r.New = true; err == nil {
		err = l.tx.Write(k, &r)
	}
	l.undo = l.undo[:0]
	return err
}

// loadNumber makes a number the one of a kind that was given last.
func (l *loader) loadNumber(k *rows.Kind, number []byte) error {
	if len(number) != 8 {
		return rows.ErrRecord
	}
	return l.of(k, rows.ByKey).SetSequence(rows.ReadNumber(number))
}
