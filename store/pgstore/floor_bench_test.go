package pgstore_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

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

// BenchmarkFloorDistant is the floor of BenchmarkDistant: each of 64 callers has a
// transaction for its request and does one thing after the other. It locks its org, looks
// for its key and an endpoint, and inserts an audit entry, an event, a delivery and the
// answer.
func BenchmarkFloorDistant(b *testing.B) {
	server := roomy(b)
	statements := []string{
		"BEGIN", "SELECT n FROM orgs WHERE id = $1::bigint FOR UPDATE", "SELECT record FROM rows WHERE id = $1::bigint",
		"INSERT INTO rows (record) VALUES (repeat('x', 200))", "UPDATE orgs SET n = n + 1 WHERE id = $1::bigint", "COMMIT",
	}
	for _, orgs := range []int{64, 1} {
		b.Run(fmt.Sprint("orgs=", orgs), func(b *testing.B) {
			proxy := postgres.NewProxy(b, server)
			database := server.Database(b)
			postgres.Exec(b, database, `CREATE TABLE rows (id bigserial PRIMARY KEY, record text);
				CREATE TABLE orgs (id bigint PRIMARY KEY, n bigint) WITH (fillfactor = 50);
				INSERT INTO orgs SELECT i, 0 FROM generate_series(0, 63) i`)
			free := sessions(b, 64, proxy.URL(postgres.Name(b, database)), statements...)
			proxy.Delay(500 * time.Microsecond)
			callers(b, 64, func(i int) error {
				s := <-free
				defer func() { free <- s }()
				for _, statement := range []int{0, 1, 2, 2, 3, 3, 3, 3, 4, 5} {
					var values []string
					if strings.Contains(statements[statement], "$1") {
						values = []string{fmt.Sprint(i % orgs)}
					}
					if _, err := s.run(statement, values...); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// BenchmarkFloorOutcome is what a queue in a table usually does, in 64 loops: it claims 32
// rows that no one else has locked, and then writes their outcomes.
func BenchmarkFloorOutcome(b *testing.B) {
	database := roomy(b).Database(b)
	postgres.Exec(b, database, fmt.Sprintf(`CREATE TABLE work (id bigint PRIMARY KEY, due bigint NOT NULL, record text NOT NULL) WITH (fillfactor = 80);
		INSERT INTO work SELECT i, 0, repeat('x', 200) FROM generate_series(1, %d) i; CREATE INDEX work_due ON work (due); ANALYZE work`, b.N))
	free := sessions(b, 64, database,
		"UPDATE work SET due = 1 + $1::bigint WHERE id IN (SELECT id FROM work WHERE due <= 0 ORDER BY due LIMIT 32 FOR UPDATE SKIP LOCKED) RETURNING id",
		"UPDATE work SET due = 2 + $2::bigint, record = repeat('y', 200) WHERE id = ANY($1::bigint[])")
	loops := (b.N + 31) / 32
	b.ResetTimer()
	shared(b, 64, loops, func(i int) error {
		s := <-free
		defer func() { free <- s }()
		claimed, err := s.run(0, fmt.Sprint(i))
		if err != nil {
			return err
		}
		ids := make([]string, len(claimed.Rows))
		for j, r := range claimed.Rows {
			ids[j] = string(r[0])
		}
		_, err = s.run(1, "{"+strings.Join(ids, ",")+"}", fmt.Sprint(i))
		return err
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "/s")
}
