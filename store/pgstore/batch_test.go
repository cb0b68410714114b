package pgstore

import (
	"errors"
	"testing"

	"teamdata/e2e/kit/postgres"
)

func TestBatch(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	postgres.Exec(t, database, "CREATE TABLE mine (n bigint PRIMARY KEY)")
	for name, u := range map[string]string{"direct": database, "pooler": postgres.Shared(t).Pooler(t)(database)} {
		t.Run(name, func(t *testing.T) {
			postgres.Exec(t, database, "TRUNCATE mine")
			c := dialed(t, u)
			insert := func(n int) query {
				return newQuery("INSERT INTO mine SELECT * FROM unnest($1::bigint[])", []uint64{uint64(n), uint64(n) + 1})
			}
			var rows []string
			list := query{sql: "SELECT n::text AS digits FROM mine ORDER BY n", row: func(v [][]byte) error { rows = append(rows, string(v[0])); return nil }}
			for i := range 3 {
				rows = nil
				err := c.run(bg, query{sql: "BEGIN"}, insert(10*i), insert(10*i+2), list, query{sql: "COMMIT"})
				if err != nil || len(rows) != 4*(i+1) {
					t.Fatalf("%v, %v", rows, err)
				}
			}
			// The first error ends the batch; what was to be prepared behind it is not.
			late := query{sql: "SELECT 'late'"}
			err := c.run(bg, query{sql: "BEGIN"}, insert(50), insert(50), late, query{sql: "COMMIT"})
			if err == nil || broken(err) || c.TxStatus() != 'E' {
				t.Errorf("a key twice: %v, state %c", err, c.TxStatus())
			}
			c.rollback()
			seen := 0
			late.row = func([][]byte) error { seen++; return nil }
			if err := c.run(bg, late, late); err != nil || seen != 2 {
				t.Errorf("after an error, %d of 2 rows: %v", seen, err)
			}
			// An error of a row is the batch's, and all is read.
			mine := errors.New("mine")
			late.row = func([][]byte) error { return mine }
			if err := c.run(bg, late, late); !errors.Is(err, mine) {
				t.Errorf("the error of a row is lost: %v", err)
			}
			if err := c.run(bg, query{sql: "SELECT 1"}); err != nil {
				t.Error(err)
			}
		})
	}
}

// Behind a pooler two connections are served by the same one of the server.
func TestPoolerIsShared(t *testing.T) {
	pooler := postgres.Shared(t).Pooler(t)(postgres.New(t))
	one, other := dialed(t, pooler), dialed(t, pooler)
	for range 2 {
		for c, sql := range map[*conn]string{one: "SELECT 1", other: "SELECT 2"} {
			if err := c.run(bg, query{sql: sql}); err != nil {
				t.Errorf("%s: %v", sql, err)
			}
		}
	}
}

// A batch is one round trip, also the first time that its statements are prepared.
func TestBatchRoundTrips(t *testing.T) {
	proxy := postgres.NewProxy(t, postgres.Shared(t))
	c := dialed(t, proxy.URL(postgres.Name(t, postgres.New(t))))
	for range 2 {
		before := proxy.Counts().RoundTrips
		if err := c.run(bg, query{sql: "BEGIN"}, query{sql: sqlLimits}, query{sql: "SELECT 1"}, query{sql: "COMMIT"}); err != nil {
			t.Fatal(err)
		}
		if n := proxy.Counts().RoundTrips - before; n != 1 {
			t.Errorf("it took %d round trips", n)
		}
	}
}
