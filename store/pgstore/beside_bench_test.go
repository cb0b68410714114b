package pgstore_test

import (
	"cmp"
	"crypto/rand"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
)

var (
	givenDatabase = flag.String("database", "", "the postgres:// URL of what BenchmarkBeside measures; default: a server of its own")
	turnTime      = flag.Duration("turn", 300*time.Millisecond, "how long a turn of BenchmarkBeside lasts")
	waitingThere  = flag.Int("waiting", 100_000, "how many deliveries wait in BenchmarkBeside/ready, in 1,000 endpoints")
)

// distance is how much longer the answers of a database take that is away.
const distance = time.Millisecond

// BenchmarkBeside measures what teamdata does with a database in turns with what any
// program could do with it on as many connections, and reports both for the round whose
// ratio is the middle one. It is how the size of a database is chosen:
//
//	go test ./store/pgstore -run '^$' -bench Beside -benchtime 5x -args -turn 2s -database postgres://teamdata@db.example/teamdata
//
// What is in that database is left alone: it works in schemas of its own, teamdata_bench_…,
// and drops them.
func BenchmarkBeside(b *testing.B) {
	m := &measured{given: *givenDatabase}
	if m.given == "" {
		m.server = roomy(b)
	}
	for _, hot := range []struct {
		suffix string
		orgs   int
	}{{"", 64}, {"-hot", 1}} {
		b.Run("accept"+hot.suffix, func(b *testing.B) { m.accept(b, 0, hot.orgs, insertRow) })
		b.Run("accept-grouped"+hot.suffix, func(b *testing.B) { m.accept(b, 0, hot.orgs, acceptAlone) })
		b.Run("accept-away"+hot.suffix, func(b *testing.B) { m.accept(b, distance, hot.orgs, acceptAlone) })
		for _, nodes := range []int{2, 4} {
			b.Run(fmt.Sprintf("nodes%s.%d", hot.suffix, nodes), func(b *testing.B) { m.nodes(b, 0, hot.orgs, nodes) })
			b.Run(fmt.Sprintf("nodes-away%s.%d", hot.suffix, nodes), func(b *testing.B) { m.nodes(b, distance, hot.orgs, nodes) })
		}
	}
	b.Run("outcome", func(b *testing.B) { m.outcome(b, 32) })
	b.Run("outcome-each", func(b *testing.B) { m.outcome(b, 1) })
	b.Run("page", m.page)
	b.Run("ready", m.ready)
}

// measured is a database to measure: a new one of a server, or a schema in the given one.
type measured struct {
	server *postgres.Server
	given  string
}

// place is a place in it where nothing is. The answers of the database take away longer
// there than they do.
func (m *measured) place(b testing.TB, away time.Duration) (databaseURL string) {
	switch {
	case m.given != "" && away > 0:
		b.Skip("a given database is as far away as it is")
	case m.given != "":
		return newSchema(b, m.given)
	}
	database := m.server.Database(b)
	if away == 0 {
		return database
	}
	proxy := postgres.NewProxy(b, m.server)
	proxy.Delay(away / 2)
	return proxy.URL(postgres.Name(b, database))
}

// newSchema makes a schema that is dropped at the end, and returns the URL by which
// everything is in it.
func newSchema(b testing.TB, database string) string {
	name, first := "teamdata_bench_"+strings.ToLower(rand.Text()), "?"
	postgres.Exec(b, database, "CREATE SCHEMA "+name)
	b.Cleanup(func() { postgres.Exec(b, database, "DROP SCHEMA "+name+" CASCADE") })
	if strings.Contains(database, "?") {
		first = "&"
	}
	return database + first + "search_path=" + name
}

// turn measures something once.
type turn func(b *testing.B) float64

// inTurns measures both, round by round, so that what else the machine does falls on both.
func inTurns(b *testing.B, unit string, ours, beside turn) {
	b.Helper()
	var rounds [][2]float64
	for b.Loop() {
		floor := beside(b)
		rounds = append(rounds, [2]float64{ours(b), floor})
		if b.Failed() {
			b.FailNow()
		}
	}
	slices.SortFunc(rounds, func(x, y [2]float64) int { return cmp.Compare(x[0]/x[1], y[0]/y[1]) })
	middle := rounds[len(rounds)/2]
	b.ReportMetric(middle[0], unit)
	b.ReportMetric(middle[1], "beside-"+unit)
	b.ReportMetric(middle[0]/middle[1], "ratio")
	b.ReportMetric(0, "ns/op")
}

// calls numbers the calls of all turns, so that each has a key of its own.
var calls atomic.Int64

// perSecond is a turn of callers who call again as soon as they were answered. It counts
// what the calls return.
func perSecond(callers int, call func(i int) (n int, err error)) turn {
	return func(b *testing.B) float64 {
		var done atomic.Int64
		var all sync.WaitGroup
		start := time.Now()
		for range callers {
			all.Go(func() {
				for again := true; again; again = time.Since(start) < *turnTime {
					n, err := call(int(calls.Add(1)))
					if err != nil {
						b.Error(err)
						return
					}
					done.Add(int64(n))
				}
			})
		}
		all.Wait()
		return float64(done.Load()) / time.Since(start).Seconds()
	}
}

// accepting is a turn of callers whose requests are for orgs in turns, by way of nodes in
// turns.
func accepting(callers, orgs int, nodes ...*pgstore.Store) turn {
	return perSecond(callers, func(i int) (int, error) {
		return 1, accept(nodes[i%len(nodes)], fmt.Sprint("org_", i%orgs), fmt.Sprint("key-", i))
	})
}

// accept has 64 callers, each request with its key, audit entry, event and delivery.
func (m *measured) accept(b *testing.B, away time.Duration, orgs int, beside func(b *testing.B, database string, orgs int) turn) {
	database := m.place(b, away)
	ours := accepting(64, orgs, benchmarked(b, database, orgs))
	inTurns(b, "answers/s", ours, beside(b, database, orgs))
}

// nodes has 256 callers, as many as keep four nodes busy: so many nodes together, beside
// one alone. A node that has no turn is not there, since nodes look at one another.
func (m *measured) nodes(b *testing.B, away time.Duration, orgs, nodes int) {
	database := m.place(b, away)
	kit.Must(b, benchmarked(b, database, orgs).Close())
	by := func(n int) turn {
		return func(b *testing.B) float64 {
			var all []*pgstore.Store
			for range n {
				s := open(b, database, pgstore.Options{})
				defer s.Close()
				all = append(all, s)
			}
			awaitShards(b, all[0], n)
			return accepting(256, orgs, all...)(b)
		}
	}
	inTurns(b, "answers/s", by(nodes), by(1))
}

// outcome has 64 endpoints whose deliveries are claimed by 32 and recorded, beside a queue
// in a table that records so many at once.
func (m *measured) outcome(b *testing.B, atOnce int) {
	const deliveries = 20_000
	database := m.place(b, 0)
	s := benchmarked(b, database, 64)
	ours := func(b *testing.B) float64 {
		sendTests(b, s, 64, deliveries)
		return deliveries / recordAllDue(b, s).Seconds()
	}
	inTurns(b, "deliveries/s", ours, skipLocked(b, database, atOnce))
}

// page is one caller's, beside a round trip.
func (m *measured) page(b *testing.B) {
	database := m.place(b, 0)
	read := membersRead(b, benchmarked(b, database, 1), 10_000)
	nothing := newSession(b, database, "SELECT 1")
	micros := func(call func() error) turn {
		calls := perSecond(1, func(int) (int, error) { return 1, call() })
		return func(b *testing.B) float64 { return 1e6 / calls(b) }
	}
	inTurns(b, "µs", micros(read), micros(func() error { _, err := nothing.run(0); return err }))
}

// ready is from a start until the next due time of each endpoint is known, with deliveries
// waiting, beside none.
func (m *measured) ready(b *testing.B) {
	starting := func(each int) turn {
		database, want := m.place(b, 0), 0
		fillWaiting(b, database, each)
		if each > 0 {
			want = waitingEndpoints
		}
		return func(b *testing.B) float64 {
			start, found := time.Now(), 0
			s := open(b, database, pgstore.Options{})
			defer s.Close()
			kit.Must(b, s.EachDue(bg, func(uint64, time.Time) { found++ }))
			if found != want {
				b.Errorf("%d endpoints have something due, not %d", found, want)
			}
			return float64(time.Since(start).Microseconds()) / 1000
		}
	}
	inTurns(b, "ms", starting(max(1, *waitingThere/waitingEndpoints)), starting(0))
}

// What is in a given database is left as it was, also where it has the names of ours.
func TestNewSchema(t *testing.T) {
	database := postgres.New(t)
	postgres.Exec(t, database, "CREATE TABLE deliveries (id text)")
	const tables = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"
	before := postgres.Exec(t, database, tables)
	t.Run("measured", func(t *testing.T) {
		s := benchmarked(t, newSchema(t, database), 1)
		kit.Must(t, accept(s, "org_0", "key"))
		kit.Must(t, s.View(bg, func(tx store.Tx) error { _, err := tx.Org("org_0"); return err }))
		if during := postgres.Exec(t, database, tables); len(during) <= len(before)+1 {
			t.Errorf("the tables are %v", during)
		}
	})
	if after := postgres.Exec(t, database, tables); fmt.Sprint(after) != fmt.Sprint(before) || len(after) != 1 {
		t.Errorf("the tables are %v, not %v", after, before)
	}
}
