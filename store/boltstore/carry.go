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
		if err = cmp.Or(err, olderSchema(version)); err != nil {
			return err
		}
		sealed, err := checkSeal(db, rows.Sealing{Sealer: key})
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
				err := dumpKind(bolt, kind, func(key, record []byte) error { return fn(kind, key, record) })
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// dumpKind calls fn with the records of a kind.
func dumpKind(bolt *bbolt.Tx, kind store.Kind, fn func(key, record []byte) error) (err error) {
	if k := store.NumbersOf(kind); k != nil {
		if last := bolt.Bucket([]byte(k.Name)).Sequence(); last > 0 {
			return fn(nil, numberKey(last))
		}
		return nil
	}
	if k := rows.Named(string(kind)); k != nil {
		failed := newTx(nil, bolt, nil).Scan(k, rows.Range{Index: rows.ByKey}, func(item rows.Item) bool {
			err = fn(item.Key, item.Value)
			return err == nil
		})
		return cmp.Or(err, failed)
	}
	return bolt.Bucket(bucketDeliveryCounts).ForEach(func(key, record []byte) error {
		counts, err := rows.Decode(record, store.CountsFields)
		if err != nil {
			return err
		}
		return fn(key, rows.Encode(store.CountsFields, counts))
	})
}
