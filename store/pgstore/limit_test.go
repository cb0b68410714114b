package pgstore

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/internal/ratelimit"
	"teamdata/store"
)

var perMinute = store.Limit{Name: "requests", Max: 100, Window: time.Minute}

// nodes opens some stores on one database.
func nodes(t testing.TB, n int, database string, now func() time.Time) (all []*Store) {
	t.Helper()
	target, err := ParseTarget(database)
	kit.Must(t, err)
	for range n {
		s, err := Open(t.Context(), target, Options{Now: now})
		kit.Must(t, err)
		t.Cleanup(func() { s.Close() })
		all = append(all, s)
	}
	return all
}

// Of 800 requests with one key on three servers exactly 100 are accepted, and each
// server says when the next one will be.
func TestLimitOfSeveralServers(t *testing.T) {
	var ms atomic.Int64
	now := func() time.Time { return time.UnixMilli(1_790_000_000_000 + ms.Load()) }
	servers := nodes(t, 3, WithTables(t), now)
	var accepted, remaining atomic.Int64
	limiters := make([]store.Limiter, len(servers))
	for i, s := range servers {
		limiters[i] = s.Limiter(perMinute)
	}
	var all sync.WaitGroup
	for caller := range 40 {
		all.Go(func() {
			for i := range 20 {
				d, err := limiters[(caller+i)%3].Take(t.Context(), "key", now())
				if err != nil {
					t.Error(err)
				}
				if d.OK {
					accepted.Add(1)
					remaining.Add(int64(d.Remaining))
				} else if d.RetryAfter <= 0 || d.RetryAfter > time.Minute || d.Remaining != 0 {
					t.Errorf("refused with %+v", d)
				}
				ms.Add(70) // 56 s in all
			}
		})
	}
	all.Wait()
	if got := accepted.Load(); got != int64(perMinute.Max) {
		t.Fatalf("%d were accepted", got)
	}
	if got, want := remaining.Load(), int64(perMinute.Max*(perMinute.Max-1)/2); got != want {
		t.Errorf("%d remained in all, want %d", got, want)
	}
	for range 200 { // to the millisecond
		i := int(ms.Load()) % 3
		d, err := limiters[i].Take(t.Context(), "key", now())
		if err != nil || d.OK {
			t.Fatalf("%+v, %v", d, err)
		}
		ms.Add(d.RetryAfter.Milliseconds() - 1)
		if d, err = limiters[(i+1)%3].Take(t.Context(), "key", now()); err != nil || d.OK || d.RetryAfter != time.Millisecond {
			t.Fatalf("a millisecond early: %+v, %v", d, err)
		}
		ms.Add(1)
		if d, err = limiters[(i+2)%3].Take(t.Context(), "key", now()); err != nil || !d.OK {
			t.Fatalf("after Retry-After: %+v, %v", d, err)
		}
		for d.OK { // others of the same millisecond
			if d, err = limiters[i].Take(t.Context(), "key", now()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Many ids that several servers take in different orders never wait for each other in
// a circle, ids whose times are over are forgotten meanwhile, and all is counted by the
// clock of the database.
func TestLimitsAtOnce(t *testing.T) {
	database := WithTables(t)
	servers := nodes(t, 3, database, nil)
	short := store.Limit{Name: "short", Max: 10, Window: time.Millisecond}
	var all sync.WaitGroup
	for caller := range 60 {
		s := servers[caller%3]
		limited, brief := s.Limiter(perMinute), s.Limiter(short)
		all.Go(func() {
			for i := range 50 {
				_, err := limited.Take(t.Context(), fmt.Sprint((caller*7+i*13)%40), time.Time{})
				if err == nil {
					_, err = brief.Take(t.Context(), fmt.Sprint((caller*11+i*17)%40), time.Time{})
				}
				if err == nil && i%10 == 0 {
					err = s.forgetLimits(t.Context())
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	counted := postgres.Exec(t, database, "SELECT count(*), sum(cardinality(times)), pg_sleep(0.01) FROM limits WHERE name = 'requests'")[0]
	if counted[0] != "40" || counted[1] != "3000" {
		t.Errorf("%s ids were counted %s times", counted[0], counted[1])
	}
	if err := servers[0].forgetLimits(t.Context()); err != nil {
		t.Error(err)
	}
	if left := postgres.Exec(t, database, "SELECT name, count(*) FROM limits GROUP BY name"); len(left) != 1 || left[0][0] != "requests" || left[0][1] != "40" {
		t.Errorf("%v are left", left)
	}
}

// Who is refused writes no row: all versions of it stay while anybody has a snapshot. Each
// node says when the next one will be accepted.
func TestRefusedWriteNothing(t *testing.T) {
	t.Parallel()
	database := WithTables(t)
	servers := nodes(t, 2, database, nil)
	limit := store.Limit{Name: "requests", Max: 3, Window: time.Hour}
	take := func(i int) ratelimit.Decision {
		d, err := servers[i%2].Limiter(limit).Take(t.Context(), "key", time.Time{})
		kit.Must(t, err)
		return d
	}
	for i := range limit.Max {
		if d := take(i); !d.OK || d.Remaining != limit.Max-i-1 {
			t.Errorf("take %d: %+v", i, d)
		}
	}
	const version = "SELECT ctid, at, times FROM limits"
	before := postgres.Exec(t, database, version)[0]
	for i := range 20 {
		if d := take(i); d.OK || d.Remaining != 0 || d.RetryAfter <= 59*time.Minute || d.RetryAfter > time.Hour {
			t.Errorf("refused with %+v", d)
		}
	}
	if now := postgres.Exec(t, database, version)[0]; !slices.Equal(now, before) {
		t.Errorf("%v became %v", before, now)
	}
}

// While the database is away nothing is accepted, and afterwards what was counted
// before it stopped still counts.
func TestLimitWithoutDatabase(t *testing.T) {
	t.Parallel()
	server := postgres.Start(t)
	l := nodes(t, 1, server.Database(t), nil)[0].Limiter(store.Limit{Name: "requests", Max: 2, Window: time.Hour})
	take := func(want bool, code store.Code) {
		t.Helper()
		if d, err := l.Take(t.Context(), "key", time.Time{}); d.OK != want || store.CodeOf(err) != code {
			t.Errorf("%+v, %v", d, err)
		}
	}
	take(true, "")
	server.Stop(t, "fast")
	take(false, store.CodeUnavailable)
	server.Start(t)
	take(true, "")
	take(false, "")
	server.Restart(t, "immediate") // which empties the table
	take(true, "")
}

// BenchmarkTake is how many requests of 64 callers are counted, by how many keys there are
// and how many requests each may make in a minute. The others are refused.
func BenchmarkTake(b *testing.B) {
	for _, shape := range []struct{ ids, rate int }{{1, 100}, {1000, 100}, {1, 1000}, {1, 10_000}, {1, 100_000}} {
		b.Run(fmt.Sprintf("ids=%d,rate=%d", shape.ids, shape.rate), func(b *testing.B) {
			limit := perMinute
			limit.Max = shape.rate
			l := nodes(b, 1, WithTables(b), nil)[0].Limiter(limit)
			var next atomic.Int64
			var all sync.WaitGroup
			b.ResetTimer()
			for range 64 {
				all.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						if _, err := l.Take(bg, fmt.Sprint(int(i)%shape.ids), time.Time{}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "/s")
		})
	}
}
