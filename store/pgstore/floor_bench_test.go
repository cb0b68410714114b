package pgstore_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
)

// The floors are what any program could do with the same database: the benchmarks are
// judged beside those of the same run.

// BenchmarkFloor is what the database itself does for 64 callers: one prepared row a
// transaction, by pgbench.
func BenchmarkFloor(b *testing.B) {
	program, err := exec.LookPath("pgbench")
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench"); err != nil && len(found) > 0 {
		program = found[len(found)-1]
	} else if err != nil {
		b.Skip("pgbench is not installed")
	}
	database := roomy(b).Database(b)
	postgres.Exec(b, database, "CREATE TABLE floor (id bigserial PRIMARY KEY, record text)")
	script := filepath.Join(b.TempDir(), "floor.sql")
	kit.WriteFile(b, script, "INSERT INTO floor (record) VALUES (repeat('x', 200));\n")
	b.ResetTimer()
	out, err := exec.Command(program, "-n", "-M", "prepared", "-c", "64", "-j", "2", "-t", fmt.Sprint(b.N/64+1), "-f", script, database).CombinedOutput()
	if err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	_, rest, _ := strings.Cut(string(out), "tps = ")
	tps, _, _ := strings.Cut(rest, " ")
	perSecond, _ := strconv.ParseFloat(tps, 64)
	b.ReportMetric(perSecond, "/s")
}

// session is a connection with prepared statements, which are sent one by one.
type session struct {
	testing.TB
	*pgconn.PgConn
}

func newSession(b testing.TB, database string, statements ...string) session {
	c, err := pgconn.Connect(bg, database)
	kit.Must(b, err)
	b.Cleanup(func() { c.Close(bg) })
	for i, sql := range statements {
		_, err := c.Prepare(bg, fmt.Sprint("s", i), sql, nil)
		kit.Must(b, err)
	}
	return session{b, c}
}

// run sends a statement and waits for its answer.
func (s session) run(statement int, values ...string) (*pgconn.Result, error) {
	params := make([][]byte, len(values))
	for i, v := range values {
		params[i] = []byte(v)
	}
	r := s.ExecPrepared(bg, fmt.Sprint("s", statement), params, nil, nil).Read()
	return r, r.Err
}

// sessions are those of callers, each of which has one at a time.
func sessions(b testing.TB, n int, database string, statements ...string) chan session {
	free := make(chan session, n)
	for range n {
		free <- newSession(b, database, statements...)
	}
	return free
}

// floorTables are what the baselines of BenchmarkBeside work on. A record is about as long
// as that of a delivery that was attempted.
const (
	floorTables = `CREATE TABLE floor_rows (id bigint PRIMARY KEY, record text NOT NULL);
		CREATE TABLE floor_orgs (id bigint PRIMARY KEY, n bigint NOT NULL) WITH (fillfactor = 50);
		INSERT INTO floor_orgs SELECT i, 0 FROM generate_series(0, 63) i`
	floorWork = `CREATE TABLE floor_work (id bigint PRIMARY KEY, due bigint NOT NULL, record text NOT NULL) WITH (fillfactor = 80);
		CREATE INDEX floor_due ON floor_work (due);
		INSERT INTO floor_work SELECT i, 0, repeat('x', 200) FROM generate_series(1, 10000) i`
	insertFloorRow = "INSERT INTO floor_rows VALUES ($1::bigint, $2::text)"
)

var floorRecord = strings.Repeat("x", 200)

// insertRow is the least that keeps something: one row in a transaction of its own, of 64
// callers.
func insertRow(b *testing.B, database string, _ int) turn {
	postgres.Exec(b, database, floorTables)
	free := sessions(b, 64, database, insertFloorRow)
	return perSecond(64, func(i int) (int, error) {
		s := <-free
		defer func() { free <- s }()
		_, err := s.run(0, fmt.Sprint(i), floorRecord)
		return 1, err
	})
}

// acceptAlone is what a request takes that has a transaction for itself, and does one thing
// after the other: it looks for its key and for an endpoint, locks its org, and inserts an
// audit entry, an event, a delivery and the answer. So do 64 callers.
func acceptAlone(b *testing.B, database string, orgs int) turn {
	postgres.Exec(b, database, floorTables)
	free := sessions(b, 64, database, "BEGIN", "COMMIT",
		"SELECT record FROM floor_rows WHERE id = $1::bigint", "SELECT n FROM floor_orgs WHERE id = $1::bigint",
		"UPDATE floor_orgs SET n = n + 1 WHERE id = $1::bigint", insertFloorRow)
	const begin, commit, key, endpoint, lock, insert = 0, 1, 2, 3, 4, 5
	return perSecond(64, func(i int) (int, error) {
		s := <-free
		defer func() { free <- s }()
		org := fmt.Sprint(i % orgs)
		row := func(k int) []string { return []string{fmt.Sprint(4*i + k), floorRecord} }
		for _, step := range []struct {
			statement int
			values    []string
		}{
			{begin, nil}, {key, []string{"0"}}, {endpoint, []string{org}}, {lock, []string{org}},
			{insert, row(0)}, {insert, row(1)}, {insert, row(2)}, {insert, row(3)}, {commit, nil},
		} {
			if _, err := s.run(step.statement, step.values...); err != nil {
				return 0, err
			}
		}
		return 1, nil
	})
}

// skipLocked is what a queue in a table usually does, in 64 loops: it claims 32 rows that
// are due and that no one else has locked, and writes their outcomes, so many at once.
func skipLocked(b *testing.B, database string, atOnce int) turn {
	postgres.Exec(b, database, floorWork)
	free := sessions(b, 64, database,
		`UPDATE floor_work SET due = due + 1000000000000 WHERE id IN
			(SELECT id FROM floor_work WHERE due < 1000000000000 ORDER BY due LIMIT 32 FOR UPDATE SKIP LOCKED) RETURNING id`,
		"UPDATE floor_work SET due = $2::bigint, record = $3::text WHERE id = ANY($1::bigint[])")
	return perSecond(64, func(i int) (int, error) {
		s := <-free
		defer func() { free <- s }()
		claimed, err := s.run(0)
		if err != nil {
			return 0, err
		}
		ids := make([]string, len(claimed.Rows))
		for j, r := range claimed.Rows {
			ids[j] = string(r[0])
		}
		for some := range slices.Chunk(ids, atOnce) {
			if _, err := s.run(1, "{"+strings.Join(some, ",")+"}", fmt.Sprint(i), floorRecord); err != nil {
				return 0, err
			}
		}
		return len(ids), nil
	})
}
