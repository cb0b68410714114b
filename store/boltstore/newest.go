package boltstore

import (
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

// newest returns the newest time in the positions of all lists and in the ids,
// which everything added later follows. It costs three seeks per org.
func (t *tx) newest() (time.Time, error) {
	ms := uint64(0)
	orgs := t.bolt.Bucket([]byte("orgs")).Cursor()
	for key, _ := orgs.First(); key != nil; key, _ = orgs.Next() {
		at, err := t.NewestPosition(string(key))
		if err != nil {
			return time.Time{}, err
		}
		ms = max(ms, at.Ms)
	}
	for _, name := range rising {
		if last, _ := t.bolt.Bucket(name).Cursor().Last(); last != nil {
			at, _ := store.IDTime(string(last))
			ms = max(ms, at)
		}
	}
	if ms == 0 {
		return time.Time{}, nil
	}
	return time.UnixMilli(int64(ms)).UTC(), nil
}

// NewestTime returns the newest time in a data file that no program has open, as
// in [About]; zero if the schema is older. It changes nothing.
func NewestTime(path string) (newest time.Time, err error) {
	err = boltfile.Read(path, func(db *bbolt.DB) error {
		if found, err := schemaOf(db); err != nil || found != schemaVersion() {
			return err
		}
		return db.View(func(bolt *bbolt.Tx) (err error) {
			newest, err = newTx(nil, bolt, nil).newest()
			return err
		})
	})
	return newest, err
}
