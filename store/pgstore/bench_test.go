package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/internal/pgtest"
	"teamdata/store"
	"teamdata/store/pgstore"
)

var bg = context.Background()

// benchmarked is a store with some orgs that have an endpoint each.
func benchmarked(b testing.TB, orgs int) *pgstore.Store { return benchmarkedAt(b, pgtest.New(b), orgs) }

func benchmarkedAt(b testing.TB, database string, orgs int) *pgstore.Store {
	s := open(b, database, pgstore.Options{})
	b.Cleanup(func() { s.Close() })
	fill(b, s, orgs)
	return s
}

// fill adds orgs that have an endpoint each.
func fill(t testing.TB, s *pgstore.Store, orgs int) {
	t.Helper()
	err := s.Update(bg, store.All, func(tx store.Tx) (err error) {
		for i := range orgs {
			org := fmt.Sprint("org_", i)
			_, errOrg := store.ImportOrg(tx, store.Org{ID: org, Name: org})
			_, errEndpoint := store.ImportEndpoint(tx, store.Endpoint{
				ID: "whe_1", OrgID: org, URL: "https://receiver.example/hook", Events: []string{store.EventMemberAdded},
			})
			err = errors.Join(err, errOrg, errEndpoint)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// accept accepts a request with an idempotency key that makes an event.
func accept(s store.Store, org, key string) error {
	scope := store.InOrg(org)
	scope.Keys = []store.IdempotencyKey{{OrgID: org, Key: key}}
	return s.Update(bg, scope, func(tx store.Tx) error {
		if _, err := tx.IdempotencyRecord(org, key); !store.IsNotFound(err) {
			return err
		}
		_, errAudit := store.AppendAudit(tx, store.AuditEntry{OrgID: org, Action: "test"})
		_, err := store.SendTest(tx, org, "whe_1")
		return errors.Join(err, errAudit, tx.AddIdempotencyRecord(store.IdempotencyRecord{
			OrgID: org, Key: key, FirstUse: tx.Now(), Answer: store.Answer{Status: 202, Body: []byte(`{"id":"evt_0123456789"}`)},
		}))
	})
}

// callers runs fn b.N times from some goroutines.
func callers(b *testing.B, n int, fn func(i int) error) {
	b.ResetTimer()
	var next atomic.Int64
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for i := int(next.Add(1)); i <= b.N; i = int(next.Add(1)) {
				if err := fn(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "/s")
}

// BenchmarkFloor is what the database itself does for 64 callers: one prepared row a
// transaction, by pgbench.
func BenchmarkFloor(b *testing.B) {
	program, err := exec.LookPath("pgbench")
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench"); err != nil && len(found) > 0 {
		program = found[len(found)-1]
	} else if err != nil {
		b.Skip("pgbench is not installed")
	}
	database := pgtest.New(b)
	pgtest.Exec(b, database, "CREATE TABLE floor (id bigserial PRIMARY KEY, record text)")
	script := filepath.Join(b.TempDir(), "floor.sql")
	if err := os.WriteFile(script, []byte("INSERT INTO floor (record) VALUES (repeat('x', 200));\n"), 0o600); err != nil {
		b.Fatal(err)
	}
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

// BenchmarkAccept is how many requests with an idempotency key are accepted, each with
// an event for one endpoint.
func BenchmarkAccept(b *testing.B) {
	for _, orgs := range []int{64, 1} {
		for _, n := range []int{1, 64, 512} {
			b.Run(fmt.Sprintf("orgs=%d/callers=%d", orgs, n), func(b *testing.B) {
				s := benchmarked(b, orgs)
				callers(b, n, func(i int) error { return accept(s, fmt.Sprint("org_", i%orgs), fmt.Sprint("key-", i)) })
			})
		}
	}
}

// BenchmarkDistant is BenchmarkAccept with a database whose answers take 1 ms, half of it
// each way.
func BenchmarkDistant(b *testing.B) {
	for _, n := range []int{64, 512} {
		b.Run(fmt.Sprintf("callers=%d", n), func(b *testing.B) {
			server := pgtest.Shared(b)
			proxy := pgtest.NewProxy(b, server)
			s := benchmarkedAt(b, proxy.URL(pgtest.Name(b, server.Database(b))), 64)
			proxy.Delay(500 * time.Microsecond)
			callers(b, n, func(i int) error { return accept(s, fmt.Sprint("org_", i%64), fmt.Sprint("key-", i)) })
		})
	}
}

// BenchmarkPage is what a page of 100 members takes, one reader at a time.
func BenchmarkPage(b *testing.B) {
	s := benchmarked(b, 1)
	must(b, s.Update(bg, store.All, func(tx store.Tx) (err error) {
		for i := range 1000 {
			_, errMember := tx.AppendMember(store.Member{OrgID: "org_0", UserID: fmt.Sprint("usr_", i), Role: store.RoleMember})
			err = errors.Join(err, errMember)
		}
		return err
	}))
	page := make([]byte, 0, 1<<16)
	b.ReportAllocs()
	for b.Loop() {
		must(b, s.View(bg, func(tx store.Tx) error {
			_, err := tx.MemberPage("org_0", store.Cursor{}, 100, page[:0])
			return err
		}))
	}
}

// BenchmarkOutcome is how many outcomes of attempts are recorded.
func BenchmarkOutcome(b *testing.B) {
	s := benchmarked(b, 64)
	ids := make([]string, b.N+1)
	for from := 0; from <= b.N; from += 1000 {
		err := s.Update(bg, store.All, func(tx store.Tx) (err error) {
			for i := from; i <= min(from+999, b.N); i++ {
				d, errSend := store.SendTest(tx, fmt.Sprint("org_", i%64), "whe_1")
				ids[i], err = d.ID, errors.Join(err, errSend)
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	callers(b, 64, func(i int) error {
		return s.Update(bg, store.Scope{Orgs: []string{fmt.Sprint("org_", i%64)}, Deliveries: []string{ids[i]}}, func(tx store.Tx) error {
			_, err := store.RecordAttempt(tx, ids[i], store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now().Add(20 * time.Millisecond), Status: 200}, nil)
			return err
		})
	})
}
