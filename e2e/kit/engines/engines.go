// Package engines opens the engine that the tests of handlers run on: a data file
// that isn't synced, or a database if TEST_ENGINE=postgres is in the environment. It is
// for tests alone, and imports the engines, pgtest and store.
package engines

import (
	"os"
	"testing"
	"time"

	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/pgstore"
)

// OnDatabase reports whether the tests run on a database.
func OnDatabase() bool { return os.Getenv("TEST_ENGINE") == "postgres" }

// NeedsFile skips a test of what only a data file has.
func NeedsFile(t testing.TB) {
	t.Helper()
	if OnDatabase() {
		t.Skip("it is about the data file")
	}
}

// NeedsOwnTime skips a test that runs in a bubble of package synctest: what wakes a
// connection to a database stands outside it, which ends the program.
func NeedsOwnTime(t testing.TB) {
	t.Helper()
	if OnDatabase() {
		t.Skip("its time is its own, and that of a database isn't")
	}
}

// Opener returns what opens a new engine at a path, which a database has no use for.
// Of the options a database takes the clock and BeforeCommit.
func Opener(t testing.TB, o boltstore.Options) func(path string, now func() time.Time) (store.Engine, error) {
	return func(path string, now func() time.Time) (store.Engine, error) {
		if !OnDatabase() {
			o.NoSync, o.Now = true, now
			return boltstore.Open(path, o)
		}
		target, err := pgstore.ParseTarget(postgres.New(t))
		if err != nil {
			return nil, err
		}
		return pgstore.Open(t.Context(), target, pgstore.Options{Now: now, Node: pgstore.RandomName(), Sole: true, BeforeCommit: o.BeforeCommit})
	}
}
