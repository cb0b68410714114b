package pgstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/engine"
	"teamdata/store/rows"
	"teamdata/store/rows/rowstest"
)

func init() { kindTables = defineKinds(kindTables, rowstest.Kinds...) }

// sqlOf makes the table of a kind.
func sqlOf(k *rows.Kind) string {
	t := tableOf(k)
	sql := "CREATE TABLE " + t.name + " (key bytea PRIMARY KEY"
	if k.Span > 0 {
		return "CREATE TABLE " + t.name + " (key bytea, at bigint NOT NULL, value bytea NOT NULL, PRIMARY KEY (key, at)) PARTITION BY RANGE (at)"
	}
	if k.Rewritten {
		sql = strings.TrimSuffix(sql, " PRIMARY KEY") + ", at bigint, PRIMARY KEY (key, at)"
	}
	indexes := ""
	if k == deliveries.of { // ranges of it have only bare entries
		indexes = "CREATE UNIQUE INDEX deliveries_unattempted ON deliveries (place) WHERE place_value IS NULL;"
	}
	for _, c := range t.cols[1 : len(t.cols)-1] {
		if c.name != t.last {
			sql += ", " + c.name + " bytea"
		}
	}
	for i := range k.Indexes {
		column := t.ordered(i)
		indexes += fmt.Sprintf("CREATE UNIQUE INDEX %[1]s_%[2]s ON %[1]s (%[2]s) WHERE %[2]s IS NOT NULL;", t.name, column)
	}
	if k.Numbers {
		indexes += "CREATE SEQUENCE " + t.numbers() + ";"
	}
	return sql + ", value bytea NOT NULL);" + indexes
}

// rowsEngine is a Store with rows of the suite's kinds.
type rowsEngine struct{ *Store }

func (e rowsEngine) Update(fn func(*rows.Tx) error) error {
	return e.Store.Update(bg, store.All, func(run store.Tx) error { return fn(ownTx(run).Tx.Tx) })
}

func (e rowsEngine) View(fn func(*rows.Tx) error) error {
	return e.view(bg, func(t *tx) error { return fn(t.Tx.Tx) })
}

// withKinds makes a database with tables of the suite's kinds.
func withKinds(t testing.TB) (database string) {
	t.Helper()
	return postgres.Copy(t, "kinds", func(database string) {
		opened(t, database).Close()
		for _, k := range rowstest.Kinds {
			postgres.Exec(t, database, sqlOf(k))
		}
	})
}

var rowsSeeds = kit.NewSeeds("rows.seeds", 1)

// The engine keeps the contract of rows.
func TestRows(t *testing.T) {
	t.Parallel()
	rowsSeeds.Run(t, func(t *testing.T, seed uint64) {
		database := withKinds(t)
		rowstest.Test(t, seed, func(t testing.TB, _ string) rowstest.Engine {
			target, err := ParseTarget(database)
			kit.Must(t, err)
			s, err := Open(bg, target, Options{Sole: true})
			kit.Must(t, err)
			return rowsEngine{s}
		})
	}, 123577868, 123577884)
}

// What an update that fails had deleted without a look, and then did not find, is there
// for the updates of its group that follow.
func TestReadWholeAndFailed(t *testing.T) {
	t.Parallel()
	s := opened(t, withKinds(t))
	defer s.Close()
	at := time.UnixMilli(0).Add(1000 * time.Hour)
	kit.Must(t, rowsEngine{s}.Update(func(tx *rows.Tx) error {
		return rowstest.Visits.Put(tx, &rowstest.Visit{Who: "ada", At: at})
	}))
	failed := errors.New("failed")
	group := []*engine.Update{
		{Ctx: bg, Scope: store.All, Fn: func(run store.Tx) error {
			tx := ownTx(run).Tx.Tx
			if err := rowstest.Visits.Drop(tx, []byte("ada")); err != nil {
				return err
			}
			keys, err := rows.Keys(tx, &rowstest.Visits.Kind, rows.Range{Index: rows.ByKey})
			if len(keys) > 0 || err != nil {
				t.Errorf("there are %q, %v", keys, err)
			}
			return failed
		}},
		{Ctx: bg, Scope: store.All, Fn: func(run store.Tx) error {
			if value, err := ownTx(run).Get(&rowstest.Visits.Kind, []byte("ada")); value == nil || err != nil {
				t.Errorf("the next update of the group sees %q, %v", value, err)
			}
			return nil
		}},
	}
	s.commit(group)
	if group[0].Err != failed || group[1].Err != nil {
		t.Error(group[0].Err, group[1].Err)
	}
}

// Numbers are given once, also if a transaction fails.
func TestNumbers(t *testing.T) {
	t.Parallel()
	s := opened(t, withKinds(t))
	defer s.Close()
	failed := errors.New("failed")
	for _, want := range []uint64{1, 2, 3} {
		err := s.Update(bg, store.All, func(run store.Tx) error {
			n, err := ownTx(run).Next(&rowstest.Tickets.Kind)
			if n != want || err != nil {
				t.Errorf("number %d is %d, %v", want, n, err)
			}
			return failed
		})
		if err != failed {
			t.Error(err)
		}
	}
	if err := s.view(bg, func(tx *tx) error { _, err := tx.Next(&rowstest.Tickets.Kind); return err }); err == nil {
		t.Error("a View gets a number")
	}
}

// TestTablesOfKinds compares what migrations made with the kinds.
func TestTablesOfKinds(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	opened(t, database).Close()
	made := func(schema, name string) string {
		return fmt.Sprint(postgres.Exec(t, database, fmt.Sprintf(`SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_schema = '%[1]s' AND table_name = '%[2]s' ORDER BY column_name`, schema, name)),
			postgres.Exec(t, database, fmt.Sprintf(`SELECT regexp_replace(replace(indexdef, '%[1]s.', ''), ' WITH .fillfactor=''\d+''.', '') FROM pg_indexes WHERE schemaname = '%[1]s' AND tablename = '%[2]s' ORDER BY indexname`, schema, name)))
	}
	postgres.Exec(t, database, "CREATE SCHEMA kinds")
	for _, k := range rows.Kinds() {
		postgres.Exec(t, database, "SET search_path = kinds; "+sqlOf(k))
		name := tableOf(k).name
		if got, want := made("public", name), made("kinds", name); got != want {
			t.Errorf("%s is\n%s\nand not\n%s", name, got, want)
		}
	}
}
