package pgstore_test

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"teamdata/internal/pgtest"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/pgstore"
	"teamdata/store/storetest"
)

// The contract is kept if each reopening finds the data in another engine, where it was
// carried to: from a file to a database, to a new file, and so on.
func TestStoreCarriedAlong(t *testing.T) {
	var mu sync.Mutex
	opened := map[string]*places{} // by path
	storetest.Run(t, func(t testing.TB, path string, now func() time.Time) store.Store {
		mu.Lock()
		defer mu.Unlock()
		if opened[path] == nil {
			opened[path] = &places{path: path}
		}
		return opened[path].open(t, now)
	})
}

// places are where data was one after the other.
type places struct {
	path string
	n    int
	last string
}

func (p *places) open(t testing.TB, now func() time.Time) store.Store {
	from, to := p.last, p.path+strconv.Itoa(p.n)
	if p.n%2 == 1 {
		to = pgtest.New(t)
	}
	if p.n++; p.n > 1 {
		carry(t, from, to)
	}
	if p.last = to; pgstore.IsURL(to) {
		return open(t, to, pgstore.Options{Now: now})
	}
	s, err := boltstore.Open(to, boltstore.Options{Now: now, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func carry(t testing.TB, from, to string) {
	t.Helper()
	ctx := context.Background()
	both := func(source store.Source, target store.Carrier) error {
		_, err := store.Carry(ctx, source, target, func(store.Kind, int, bool) {})
		return err
	}
	var err error
	if pgstore.IsURL(from) {
		err = pgstore.Read(ctx, parse(t, from), nil, func(source store.Source) error {
			target, err := boltstore.Open(to, boltstore.Options{NoSync: true}) // Rebuild would refuse what some tests leave
			if err != nil {
				return err
			}
			return errors.Join(both(source, target), target.Close())
		})
	} else {
		err = boltstore.ReadFile(from, nil, func(source store.Source) error {
			return pgstore.Fill(ctx, parse(t, to), nil, func(target store.Carrier) error { return both(source, target) })
		})
	}
	if err != nil {
		t.Fatalf("from %s to %s: %v", filepath.Base(from), filepath.Base(to), err)
	}
}

func parse(t testing.TB, database string) *pgstore.Target {
	t.Helper()
	target, err := pgstore.ParseTarget(database)
	if err != nil {
		t.Fatal(err)
	}
	return target
}
