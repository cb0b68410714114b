package boltstore

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"testing"

	"teamdata/store"
)

// kept is a record as large as that of a test delivery, under a new key.
func kept(tx store.Tx) store.IdempotencyRecord {
	return store.IdempotencyRecord{
		OrgID: testOrg, Key: rand.Text(), FirstUse: tx.Now(),
		Answer: store.Answer{Status: http.StatusOK, ContentType: "application/json", Body: make([]byte, 38)},
	}
}

// useKeys uses new keys.
func (f *fixture) useKeys(n int) {
	f.Helper()
	const batch = 10_000
	for range n / batch {
		f.update(func(tx store.Tx) (err error) {
			for range batch {
				err = errors.Join(err, tx.AddIdempotencyRecord(kept(tx)))
			}
			return err
		})
	}
}

// BenchmarkKeys64 is what 64 callers get done together, each time with a new key,
// in a file in which many were used.
func BenchmarkKeys64(b *testing.B) {
	const callers = 64
	for _, used := range []int{0, 200_000, 1_000_000} {
		f := newFixture(b, Options{})
		f.useKeys(used)
		b.Run(fmt.Sprint(used, " used"), func(b *testing.B) {
			before := f.commits()
			var done sync.WaitGroup
			b.ReportAllocs()
			b.ResetTimer()
			for caller := range callers {
				done.Go(func() {
					for i := caller; i < b.N; i += callers {
						f.update(func(tx store.Tx) error {
							r := kept(tx)
							if _, err := tx.IdempotencyRecord(r.OrgID, r.Key); !store.IsNotFound(err) {
								return err
							}
							return tx.AddIdempotencyRecord(r)
						})
					}
				})
			}
			done.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
			b.ReportMetric(float64(b.N)/float64(f.commits()-before), "updates/commit")
		})
	}
}

// heap is what is in use of it.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
