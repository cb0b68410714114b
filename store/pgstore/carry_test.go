package pgstore_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/pgstore"
	"teamdata/store/storetest"
)

// The contract is kept if each reopening finds the data in another engine, where it was
// carried to: from a file to a database, to a new file, and so on. It is all of the
// contract with -size.
func TestStoreCarriedAlong(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	var mu sync.Mutex
	opened := map[string]*places{} // by path
	suite := storetest.Random
	if kit.AtSize() {
		suite = storetest.Run
	}
	suite(t, func(t testing.TB, path string, now func() time.Time) store.Store {
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
		to = postgres.New(t)
	}
	if p.n++; p.n > 1 {
		carry(t, from, to)
	}
	if p.last = to; pgstore.IsURL(to) {
		return open(t, to, pgstore.Options{Now: now})
	}
	s, err := boltstore.Open(to, boltstore.Options{Now: now, NoSync: true})
	kit.Must(t, err)
	return s
}

func carry(t testing.TB, from, to string) {
	t.Helper()
	both := func(source store.Source, target store.Carrier) error {
		_, err := store.Carry(bg, source, target, func(store.Kind, int, bool) {})
		return err
	}
	var err error
	if pgstore.IsURL(from) {
		err = pgstore.Read(bg, parse(t, from), nil, to, func(source store.Source) error {
			target, err := boltstore.Open(to, boltstore.Options{NoSync: true}) // Rebuild would refuse what some tests leave
			if err != nil {
				return err
			}
			return errors.Join(both(source, target), target.Close())
		})
	} else {
		err = boltstore.ReadFile(from, nil, func(source store.Source) error {
			return pgstore.Fill(bg, parse(t, to), nil, func(target store.Carrier) error { return both(source, target) })
		})
	}
	if err != nil {
		t.Fatalf("from %s to %s: %v", filepath.Base(from), filepath.Base(to), err)
	}
}

func parse(t testing.TB, database string) *pgstore.Target {
	t.Helper()
	target, err := pgstore.ParseTarget(database)
	kit.Must(t, err)
	return target
}

// A target that has something else than what was carried gets nothing.
func TestCarriedIsCompared(t *testing.T) {
	t.Parallel()
	file, database := filepath.Join(t.TempDir(), "teamdata.db"), pgstore.WithTables(t)
	s := open(t, database, pgstore.Options{})
	seed := func(tx store.Tx) error {
		return errors.Join(tx.PutOrg(store.Org{ID: "org_1"}), tx.PutPlan(store.Plan{Name: "pro"}), tx.PutPlan(store.Plan{Name: "big"}))
	}
	kit.Must(t, errors.Join(s.Update(bg, store.All, seed), s.Close()))
	for name, change := range map[string]lossy{
		"a record is lost":    func(key, _ []byte) (keep bool) { return string(key) != "big" },
		"a record is changed": func(key, record []byte) bool { record[len(record)-1] ^= 1; return true },
	} {
		spoiled := func(from store.Source, to store.Carrier) error {
			_, err := store.Carry(bg, from, lossyCarrier{to, change}, func(store.Kind, int, bool) {})
			return err
		}
		err := pgstore.Read(bg, parse(t, database), nil, file, func(from store.Source) error {
			return boltstore.Rebuild(bg, file, boltstore.Options{}, func(to *boltstore.Store) error { return spoiled(from, to) })
		})
		if err == nil || !strings.Contains(err.Error(), "differs from the original") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the file: %v", name, err)
		}
		empty := postgres.New(t)
		err = pgstore.Read(bg, parse(t, database), nil, file, func(from store.Source) error {
			return pgstore.Fill(bg, parse(t, empty), nil, func(to store.Carrier) error { return spoiled(from, to) })
		})
		if err == nil || !strings.Contains(err.Error(), "differs from the original") {
			t.Errorf("%s: %v", name, err)
		}
		if n := postgres.Exec(t, empty, "SELECT count(*) FROM orgs")[0][0]; n != "0" {
			t.Errorf("%s: the database has %s orgs", name, n)
		}
	}
}

// lossy changes a plan that is loaded, and reports whether to keep it.
type lossy func(key, record []byte) (keep bool)

type lossyCarrier struct {
	store.Carrier
	change lossy
}

func (l lossyCarrier) Load(ctx context.Context, fill func(store.EachRecord) error) error {
	return l.Carrier.Load(ctx, func(put store.EachRecord) error {
		return fill(func(kind store.Kind, key, record []byte) error {
			if record = bytes.Clone(record); kind == "plans" && !l.change(key, record) {
				return nil
			}
			return put(kind, key, record)
		})
	})
}
