package pgstore_test

import (
	"cmp"
	"context"
	"flag"
	"os"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
	"teamdata/store/storetest"
)

// A database takes 30 times as long as a file. The steps of .ci/steps name more seeds.
func init() { flag.Set("storetest.seeds", "1") }

// The engine keeps the store's contract, and leaves databases in which Check finds
// nothing wrong. What is PostgreSQL's own has its tests beside this one. Only with -size
// the writes of each rule fail, and the engine looks for other nodes meanwhile.
func TestStore(t *testing.T) {
	t.Parallel()
	all := databases{owner: t}
	if kit.AtSize() {
		storetest.Run(t, all.open)
		return
	}
	storetest.Promises(t, all.open)
	storetest.Random(t, all.open)
}

// databases are those of the suite, of which one is used by one test after another:
// to empty it takes much less time than to make it.
type databases struct {
	owner testing.TB // of the databases, which are dropped when it ends
	mu    sync.Mutex
	spare []string
}

// open opens a database for each path.
func (d *databases) open(t testing.TB, path string, now func() time.Time) store.Store {
	return open(t, d.at(t, path), pgstore.Options{Now: now, Sole: !kit.AtSize()})
}

// at is the URL of the database of a path, which is in a file there.
func (d *databases) at(t testing.TB, path string) string {
	database, err := os.ReadFile(path)
	if err != nil {
		database = []byte(d.take())
		t.Cleanup(func() { // after the suite has closed the store
			check(t, string(database))
			empty(t, string(database))
			d.giveBack(string(database))
		})
		kit.WriteFile(t, path, string(database))
	}
	return string(database)
}

func (d *databases) take() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if last := len(d.spare) - 1; last >= 0 {
		database := d.spare[last]
		d.spare = d.spare[:last]
		return database
	}
	return pgstore.WithTables(d.owner) + "&options=-csynchronous_commit%3Doff" // the suite does not crash
}

func (d *databases) giveBack(database string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spare = append(d.spare, database)
}

// empty makes a database as it was when its tables were made.
func empty(t testing.TB, database string) {
	postgres.Exec(t, database, `DO $$ DECLARE name text; BEGIN
		FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('meta', 'generations') LOOP
			IF name ~ '^idempotency_' THEN EXECUTE 'DROP TABLE ' || name; ELSE EXECUTE 'DELETE FROM ' || name; END IF;
		END LOOP;
		UPDATE generations SET n = 0;
		ALTER SEQUENCE endpoints_numbers RESTART;
	END $$`)
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
	kit.Must(t, err)
	o.Node = cmp.Or(o.Node, pgstore.RandomName())
	s, err := pgstore.Open(context.Background(), target, o)
	kit.Must(t, err)
	return s
}
