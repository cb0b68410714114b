package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"teamdata/e2e/kit/engines"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/boltstore/boltfile"
	"teamdata/store/pgstore"
)

// engine is what a world has its data in.
type engine interface {
	open(*world) (store.Engine, error)
	// age makes new data look used.
	age(*world) error
	// check looks for damage when nobody has the data open.
	check(*world) error
}

// newEngine makes one for a world to come. The database's server is none of the world,
// and has its own time.
func newEngine(t *testing.T) engine {
	if !engines.OnDatabase() {
		return file(filepath.Join(t.TempDir(), "teamdata.db"))
	}
	target, err := pgstore.ParseTarget(postgres.New(t))
	if err != nil {
		t.Fatal(err)
	}
	return database{target}
}

// file is a data file, by its path.
type file string

func (f file) open(w *world) (store.Engine, error) {
	return boltstore.Open(string(f), boltstore.Options{
		Now: w.storeClock, NoSync: true, MapSize: 16 << 20, BeforeCommit: w.beforeCommit,
	})
}

// age leaves many free pages in the file, in runs of some.
func (file) age(w *world) error {
	for _, size := range []int{3 * os.Getpagesize(), 0} {
		err := w.store.Update(context.Background(), store.All, func(tx store.Tx) (err error) {
			for i := range 200 {
				err = errors.Join(err, tx.PutCertificate(fmt.Sprint("ballast ", i), make([]byte, size)))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (f file) check(w *world) error {
	if err := boltstore.Check(string(f), w.damaged); err != nil {
		return err
	}
	listed, err := boltfile.CompareFree(string(f))
	if err == nil && !listed {
		w.sum.searches++
	}
	return err
}

// database is one, which a world's time doesn't reach.
type database struct{ *pgstore.Target }

func (d database) open(w *world) (store.Engine, error) {
	return pgstore.Open(context.Background(), d.Target, pgstore.Options{
		Now: w.storeClock, BeforeCommit: w.beforeCommit, Node: "one", Sole: true,
	})
}

func (database) age(*world) error { return nil }

func (d database) check(w *world) error {
	return pgstore.Check(context.Background(), d.Target, w.damaged)
}

func (w *world) damaged(fault string) { w.breaks(commits, "the data is damaged: %s", fault) }
