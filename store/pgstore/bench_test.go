package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
)

var bg = context.Background()

// roomy is a server whose memory and log are not those of a test: a full log would have
// each page written twice.
func roomy(b *testing.B) *postgres.Server {
	return postgres.Start(b, "shared_buffers=256MB", "max_wal_size=4GB")
}

// benchmarked is a store with some orgs that have an endpoint each.
func benchmarked(b testing.TB, database string, orgs int) *pgstore.Store {
	collect := debug.SetGCPercent(400) // as the program does
	b.Cleanup(func() { debug.SetGCPercent(collect) })
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
	kit.Must(t, err)
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
	shared(b, n, b.N, fn)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "/s")
}

// shared runs fn so many times from some goroutines.
func shared(b *testing.B, goroutines, times int, fn func(i int) error) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for i := int(next.Add(1)); i <= times; i = int(next.Add(1)) {
				if err := fn(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// BenchmarkAccept is how many requests with an idempotency key are accepted, each with
// an event for one endpoint.
func BenchmarkAccept(b *testing.B) {
	server := roomy(b)
	for _, orgs := range []int{64, 1} {
		for _, n := range []int{1, 64, 512} {
			b.Run(fmt.Sprintf("orgs=%d/callers=%d", orgs, n), func(b *testing.B) {
				s := benchmarked(b, server.Database(b), orgs)
				callers(b, n, func(i int) error { return accept(s, fmt.Sprint("org_", i%orgs), fmt.Sprint("key-", i)) })
			})
		}
	}
}

// BenchmarkDistant is BenchmarkAccept with a database whose answers take 1 ms, half of it
// each way.
func BenchmarkDistant(b *testing.B) {
	server := roomy(b)
	for _, orgs := range []int{64, 1} {
		for _, n := range []int{64, 512} {
			b.Run(fmt.Sprintf("orgs=%d/callers=%d", orgs, n), func(b *testing.B) {
				proxy := postgres.NewProxy(b, server)
				s := benchmarked(b, proxy.URL(postgres.Name(b, server.Database(b))), orgs)
				proxy.Delay(500 * time.Microsecond)
				callers(b, n, func(i int) error { return accept(s, fmt.Sprint("org_", i%orgs), fmt.Sprint("key-", i)) })
			})
		}
	}
}

// BenchmarkPage is what a page of 100 members takes, one reader at a time.
func BenchmarkPage(b *testing.B) {
	read := membersRead(b, benchmarked(b, roomy(b).Database(b), 1), 1000)
	b.ReportAllocs()
	for b.Loop() {
		kit.Must(b, read())
	}
}

// membersRead adds members, and returns what reads the first page of them.
func membersRead(b *testing.B, s *pgstore.Store, members int) func() error {
	kit.Must(b, s.Update(bg, store.All, func(tx store.Tx) (err error) {
		for i := range members {
			_, errMember := tx.AppendMember(store.Member{OrgID: "org_0", UserID: fmt.Sprint("usr_", i), Role: store.RoleMember})
			err = errors.Join(err, errMember)
		}
		return err
	}))
	page := make([]byte, 0, 1<<16)
	return func() error {
		return s.View(bg, func(tx store.Tx) error {
			_, err := tx.MemberPage("org_0", store.Cursor{}, 100, page[:0])
			return err
		})
	}
}

// BenchmarkOutcome is how many deliveries are claimed by 32, for each of 64 endpoints, and
// their outcomes recorded.
func BenchmarkOutcome(b *testing.B) {
	const endpoints = 64
	s := benchmarked(b, roomy(b).Database(b), endpoints)
	sendTests(b, s, endpoints, b.N)
	b.ResetTimer()
	b.ReportMetric(float64(b.N)/recordAllDue(b, s).Seconds(), "/s")
}

// sendTests queues deliveries for orgs in turns.
func sendTests(b *testing.B, s *pgstore.Store, orgs, deliveries int) {
	for from := 0; from < deliveries; from += 1000 {
		kit.Must(b, s.Update(bg, store.All, func(tx store.Tx) (err error) {
			for i := from; i < min(from+1000, deliveries); i++ {
				_, errSend := store.SendTest(tx, fmt.Sprint("org_", i%orgs), "whe_1")
				err = errors.Join(err, errSend)
			}
			return err
		}))
	}
}

// recordAllDue claims and records what is due, each endpoint for itself, and returns how
// long that took.
func recordAllDue(b *testing.B, s *pgstore.Store) time.Duration {
	var numbers []uint64
	kit.Must(b, s.EachDue(bg, func(endpoint uint64, _ time.Time) { numbers = append(numbers, endpoint) }))
	var all sync.WaitGroup
	start := time.Now()
	for _, number := range numbers {
		all.Go(func() {
			for recordDue(b, s, number) > 0 {
			}
		})
	}
	all.Wait()
	return time.Since(start)
}

// recordDue claims what is due, records that it was acknowledged, and returns how many
// these were.
func recordDue(b *testing.B, s *pgstore.Store, number uint64) int {
	claims, err := s.Claim(bg, number, time.Now().Add(time.Hour), 32)
	if err != nil {
		b.Error(err)
	}
	var all sync.WaitGroup
	for _, c := range claims.Claims {
		all.Go(func() {
			defer s.Release(c.Delivery.ID)
			scope := store.Scope{Orgs: []string{c.Delivery.OrgID}, Deliveries: []string{c.Delivery.ID}, Fence: claims.Fence}
			err := s.Update(bg, scope, func(tx store.Tx) error {
				_, err := store.RecordAttempt(tx, c.Delivery.ID, store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now().Add(20 * time.Millisecond), Status: 200}, nil)
				return err
			})
			if err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	return len(claims.Claims)
}

// waitingEndpoints are those of fillWaiting, 50 in each of 20 orgs.
const waitingEndpoints = 1000

// fillWaiting writes orgs with endpoints, for each of which so many deliveries wait.
func fillWaiting(b *testing.B, database string, each int) {
	const orgs = 20
	s := benchmarked(b, database, orgs)
	kit.Must(b, s.Update(bg, store.All, func(tx store.Tx) (err error) {
		for i := range waitingEndpoints {
			org, id := fmt.Sprint("org_", i%orgs), fmt.Sprint("whe_", i/orgs+1)
			if i >= orgs {
				_, errEndpoint := store.ImportEndpoint(tx, store.Endpoint{ID: id, OrgID: org, URL: "https://receiver.example/hook", Events: []string{"*"}})
				err = errors.Join(err, errEndpoint)
			}
			if each > 0 {
				_, errSend := store.SendTest(tx, org, id)
				err = errors.Join(err, errSend)
			}
		}
		return err
	}))
	postgres.Exec(b, database, fmt.Sprintf("INSERT INTO deliveries SELECT key || convert_to('_' || i, 'UTF8'), place || convert_to('_' || i, 'UTF8'), place_value, attempted, value FROM deliveries, generate_series(1, %d) i", each-1))
	kit.Must(b, s.Close()) // which had all endpoints
}

// BenchmarkReady is what a start waits for with 1,000,000 deliveries waiting in 1,000
// endpoints: the connection, and the earliest due time of each endpoint. Beside it, a
// claim of 32.
func BenchmarkReady(b *testing.B) {
	database := roomy(b).Database(b)
	fillWaiting(b, database, 1000)
	var opening, finding, claiming time.Duration
	for b.Loop() {
		start := time.Now()
		s := open(b, database, pgstore.Options{})
		opening += time.Since(start)
		var numbers []uint64
		start = time.Now()
		kit.Must(b, s.EachDue(bg, func(endpoint uint64, _ time.Time) { numbers = append(numbers, endpoint) }))
		finding += time.Since(start)
		start = time.Now()
		claims, err := s.Claim(bg, numbers[0], time.Now().Add(time.Hour), 32)
		claiming += time.Since(start)
		if err != nil || len(numbers) != waitingEndpoints || len(claims.Claims) != 32 {
			b.Fatalf("%d endpoints, %d claimed: %v", len(numbers), len(claims.Claims), err)
		}
		b.StopTimer()
		kit.Must(b, s.Close())
		b.StartTimer()
	}
	for unit, took := range map[string]time.Duration{"ms/open": opening, "ms/eachdue": finding, "ms/claim": claiming} {
		b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), unit)
	}
}

// BenchmarkRetention is how many finished deliveries a sweep drops with their events,
// and how long accepts beside it take.
func BenchmarkRetention(b *testing.B) {
	s := benchmarked(b, roomy(b).Database(b), 64)
	ended := time.Now()
	for from := 0; from < b.N; from += 1000 {
		kit.Must(b, s.Update(bg, store.All, func(tx store.Tx) (err error) {
			for i := from; i < min(from+1000, b.N); i++ {
				d, errSend := store.SendTest(tx, fmt.Sprint("org_", i%64), "whe_1")
				_, errOutcome := store.RecordAttempt(tx, d.ID, store.Attempt{StartedAt: ended, EndedAt: ended, Status: 200}, nil)
				err = errors.Join(err, errSend, errOutcome)
			}
			return err
		}))
	}
	ctx, stop := context.WithCancel(bg)
	var took []time.Duration
	var beside sync.WaitGroup
	beside.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			began := time.Now()
			if err := accept(s, "org_0", fmt.Sprint("beside-", i)); err != nil {
				b.Error(err)
			}
			took = append(took, time.Since(began))
		}
	})
	dropped := 0
	b.ResetTimer()
	kit.Must(b, store.Sweep(bg, s, store.Retention{Finished: time.Nanosecond, Held: time.Hour, Dropped: func(_ string, n int) { dropped += n }}))
	b.StopTimer()
	stop()
	beside.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(dropped)/b.Elapsed().Seconds(), "/s")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "accept-p99-µs")
}

// BenchmarkLatest is what the latest deliveries of an endpoint take, in all of its lists,
// where many wait for a retry and none for the first attempt.
func BenchmarkLatest(b *testing.B) {
	const waiting = 20_000
	s := benchmarked(b, roomy(b).Database(b), 1)
	var endpoint uint64
	for from := 0; from < waiting; from += 5000 {
		kit.Must(b, s.Update(bg, store.All, func(tx store.Tx) error {
			e, err := tx.Endpoint("org_0", "whe_1")
			endpoint = e.Number
			for i := from; i < from+5000 && err == nil; i++ {
				at := tx.Now().Add(-time.Duration(i) * time.Second)
				id := tx.NewID(store.PrefixEvent)
				d := store.Delivery{
					ID: store.FirstDelivery(id), EventID: id, OrgID: e.OrgID, EndpointID: e.ID, EndpointNumber: e.Number, State: store.StateRetrying,
					CreatedAt: at, DueAt: at.Add(time.Hour), Attempts: 1, History: []store.Attempt{{StartedAt: at, EndedAt: at, Status: 503, Reason: "it answered 503"}},
				}
				err = tx.AddEvent(store.Event{ID: id, OrgID: e.OrgID, Type: store.EventWebhookTest, CreatedAt: at, Body: []byte("{}"), Deliveries: []string{d.ID}}, []store.Delivery{d})
			}
			return err
		}))
	}
	b.ReportAllocs()
	for b.Loop() {
		kit.Must(b, s.View(bg, func(tx store.Tx) error {
			found, err := tx.LatestDeliveries([]uint64{endpoint}, store.DeliveryLists, store.Cursor{}, 50)
			if len(found) != 50 {
				b.Fatalf("%d are found", len(found))
			}
			return err
		}))
	}
}
