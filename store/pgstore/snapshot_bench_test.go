package pgstore_test

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// BenchmarkForeignSnapshot is how many requests one after the other are accepted, and their
// outcomes recorded, at first, and while somebody else's snapshot is as old as so many
// commits, which are made as fast as possible: COMMITS, or 100,000.
func BenchmarkForeignSnapshot(b *testing.B) {
	commits := 100_000
	if n, err := strconv.Atoi(os.Getenv("COMMITS")); err == nil {
		commits = n
	}
	database := roomy(b).Database(b) + "&options=-csynchronous_commit%3Doff" // as many versions as possible
	s := benchmarked(b, database, 4)
	foreign, err := pgconn.Connect(bg, database)
	kit.Must(b, err)
	defer foreign.Close(bg)
	n, key := 0, 0
	var endpoint uint64
	kit.Must(b, s.EachDue(bg, func(uint64, time.Time) {}))
	kit.Must(b, s.View(bg, func(tx store.Tx) error {
		e, err := tx.Endpoint("org_0", "whe_1")
		endpoint = e.Number
		return err
	}))
	some := func(times int) (perSecond float64) {
		began := time.Now()
		for i := 0; i < times; i += 16 {
			for range 8 {
				key++
				kit.Must(b, accept(s, "org_0", fmt.Sprint("key-", key)))
			}
			claims, err := s.Claim(bg, endpoint, time.Now().Add(time.Hour), 8)
			kit.Must(b, err)
			if len(claims.Claims) != 8 {
				b.Fatalf("%d are claimed", len(claims.Claims))
			}
			for _, c := range claims.Claims {
				scope := store.Scope{Orgs: []string{c.Delivery.OrgID}, Deliveries: []string{c.Delivery.ID}, Fence: claims.Fence}
				kit.Must(b, s.Update(bg, scope, func(tx store.Tx) error {
					_, err := store.RecordAttempt(tx, c.Delivery.ID, store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now().Add(20 * time.Millisecond), Status: 200}, nil)
					return err
				}))
				s.Release(c.Delivery.ID)
			}
		}
		n += times
		return float64(times) / time.Since(began).Seconds()
	}
	accepts := func(times int) float64 {
		began := time.Now()
		var all sync.WaitGroup
		for range 1 {
			all.Go(func() {
				for range times {
					key++
					kit.Must(b, accept(s, "org_1", fmt.Sprint("key-", key)))
				}
			})
		}
		all.Wait()
		return float64(times) / time.Since(began).Seconds()
	}
	for b.Loop() {
		some(2000)
		b.Logf("at first: %.0f/s, accepts %.0f/s", some(2000), accepts(1000))
		if _, err := foreign.Exec(bg, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM orgs").ReadAll(); err != nil {
			b.Fatal(err)
		}
		for n = 0; n < commits; {
			some(commits / 5 / 16 * 16)
			b.Logf("after %d commits: %.0f/s, accepts %.0f/s", n, some(2000), accepts(1000))
		}
	}
}
