package pgstore_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"teamdata/internal/pgtest"
	"teamdata/store"
	"teamdata/store/codec"
	"teamdata/store/pgstore"
	"teamdata/store/storetest"
)

// The engine keeps the store's contract, and leaves databases in which Check finds
// nothing wrong. What is PostgreSQL's own has its tests beside this one.
func TestStore(t *testing.T) {
	storetest.Run(t, opener(nil))
}

// opener opens a database for each path.
func opener(sealer codec.Sealer) storetest.Open {
	return func(t testing.TB, path string, now func() time.Time) store.Store {
		return open(t, databaseAt(t, path), pgstore.Options{Now: now, Sealer: sealer})
	}
}

// databaseAt is the URL of the database of a path, whose name is in a file there.
func databaseAt(t testing.TB, path string) string {
	name, err := os.ReadFile(path)
	if err == nil {
		return string(name)
	}
	database := pgtest.New(t) + "&options=-csynchronous_commit%3Doff" // the suite does not crash
	t.Cleanup(func() { check(t, database) })                          // after the suite has closed the store
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(database), 0o600); err != nil {
		t.Fatal(err)
	}
	return database
}

func check(t testing.TB, database string) {
	target, err := pgstore.ParseTarget(database)
	if err == nil {
		err = pgstore.Check(context.Background(), target, func(fault string) { t.Error(fault) })
	}
	if err != nil {
		t.Error(err)
	}
}

func open(t testing.TB, database string, o pgstore.Options) *pgstore.Store {
	t.Helper()
	target, err := pgstore.ParseTarget(database)
	if err != nil {
		t.Fatal(err)
	}
	o.Node = cmp.Or(o.Node, pgstore.RandomName())
	s, err := pgstore.Open(context.Background(), target, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
