package boltstore

import (
	"errors"
	"testing"

	"go.etcd.io/bbolt"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/rows"
	"teamdata/store/rows/rowstest"
)

var rowSeeds = kit.NewSeeds("rows.seeds", 5)

func init() {
	for _, k := range rowstest.Kinds {
		if rowNames[k.Place] = rowBuckets(k); k.Span > 0 {
			expiringKinds = append(expiringKinds, k)
		}
	}
}

// TestRows: rows of a file are those of a model, and their entries are sound.
func TestRows(t *testing.T) {
	rowSeeds.Run(t, func(t *testing.T, seed uint64) {
		t.Parallel()
		rowstest.Test(t, seed, openRows)
	})
}

// rowsEngine is a file with buckets for the kinds of the suite.
type rowsEngine struct{ *fixture }

func openRows(t testing.TB, path string) rowstest.Engine {
	f := &fixture{TB: t, path: path}
	f.open(Options{NoSync: true})
	f.update(func(u store.Tx) (err error) {
		ownTx(u).dropped = true // so that it is committed
		for _, k := range rowstest.Kinds {
			for _, name := range rowNames[k.Place] {
				_, errOne := ownTx(u).bolt.CreateBucketIfNotExists(name)
				err = errors.Join(err, errOne)
			}
		}
		return err
	})
	return rowsEngine{f}
}

func (e rowsEngine) Update(fn func(*rows.Tx) error) error {
	return e.Store.Update(bg, store.All, func(u store.Tx) error { return fn(u.Tx) })
}

func (e rowsEngine) View(fn func(*rows.Tx) error) error {
	return e.Store.View(bg, func(u store.Tx) error { return fn(u.Tx) })
}

// Close checks the rows, too.
func (e rowsEngine) Close() error {
	err := e.db.View(func(bolt *bbolt.Tx) error {
		c := checker{bolt: bolt, found: func(fault string) { e.Error(fault) }}
		return c.rows(rowstest.Kinds)
	})
	return errors.Join(err, e.Store.Close())
}
