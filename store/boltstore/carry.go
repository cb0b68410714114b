package boltstore

import (
	"cmp"
	"context"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
	"teamdata/store/rows"
)

var _ store.Carrier = (*Store)(nil)

// ReadFile calls fn with the data of a file that no program has open, and that none
// opens meanwhile to write. A sealed file needs its key, and one in plain text none: it
// is read as it is.
func ReadFile(path string, key Sealer, fn func(store.Source) error) error {
	return boltfile.Read(path, func(db *bbolt.DB) error {
		version, err := schemaOf(db)
		switch {
		case err != nil:
			return err
		case version > schemaVersion():
			return unknownSchema(db, version)
		case version < schemaVersion():
			return olderSchema(version)
		}
		sealed, err := sealing{rows.Sealing{Sealer: key}}.check(db)
		if err != nil {
			return err
		}
		if key != nil && !sealed {
			return &boltfile.Error{Text: "is not sealed", Advice: "leave out --seal-key-file, and seal the data afterwards by serving it with the key"}
		}
		return fn(file{db})
	})
}

// Dump is that of the Store's file; updates that run meanwhile are not in it.
func (s *Store) Dump(ctx context.Context, fn store.EachRecord) error { return file{s.db}.Dump(ctx, fn) }

// file is a data file as a store.Source.
type file struct{ db *bbolt.DB }

func (f file) Dump(_ context.Context, fn store.EachRecord) error {
	return boltfile.GuardPages(func() error {
		return f.db.View(func(bolt *bbolt.Tx) error {
			for _, kind := range store.Kinds() {
				dump := dumps[kind]
				if k := store.NumbersOf(kind); k != nil {
					dump = func(bolt *bbolt.Tx, fn each) error { return dumpNumber(bolt, k, fn) }
				} else if k := rowKind(string(kind)); k != nil && k.Span > 0 {
					dump = func(bolt *bbolt.Tx, fn each) error { return dumpExpiring(bolt, k, fn) }
				} else if dump == nil {
					dump = func(bolt *bbolt.Tx, fn each) error { return eachIn(bolt, []byte(kind), fn) }
				}
				if err := dump(bolt, func(key, record []byte) error { return fn(kind, key, record) }); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

type each = func(key, record []byte) error

// eachIn calls fn with what a bucket holds. One that an earlier teamdata did not have
// is empty, see hasBuckets.
func eachIn(bolt *bbolt.Tx, name []byte, fn each) error {
	if b := bolt.Bucket(name); b != nil {
		return b.ForEach(fn)
	}
	return nil
}

// dumps are the kinds that are not simply what the bucket of that name holds.
var dumps = map[store.Kind]func(*bbolt.Tx, each) error{
	store.KindDeliveryCounts: func(bolt *bbolt.Tx, fn each) error {
		return eachIn(bolt, bucketDeliveryCounts, func(key, record []byte) error {
			counts, err := rows.Decode(record, store.CountsFields)
			if err != nil {
				return err
			}
			return fn(key, rows.Encode(store.CountsFields, counts))
		})
	},
}

// dumpNumber has the number of a kind that was given last, if any was.
func dumpNumber(bolt *bbolt.Tx, k *rows.Kind, fn each) error {
	if last := bolt.Bucket([]byte(k.Name)).Sequence(); last > 0 {
		return fn(nil, numberKey(last))
	}
	return nil
}

// dumpExpiring reads rows of a kind with a Span, which are not stored in order.
func dumpExpiring(bolt *bbolt.Tx, k *rows.Kind, fn each) (err error) {
	errScan := newTx(nil, bolt, nil).Scan(k, rows.Range{Index: rows.ByKey}, func(item rows.Item) bool {
		err = fn(item.Key, item.Value)
		return err == nil
	})
	return cmp.Or(err, errScan)
}
