package boltstore

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"testing"
	"time"

	"teamdata/store"
)

// pullKey is a key to pull with.
var pullKey = &store.APIKey{ID: "key_pull", OrgID: testOrg, Scopes: store.ScopeReceive}

// toPull is a store with an endpoint for which n deliveries wait to be pulled, each with an
// event of its own.
func toPull(b *testing.B, o Options, n int) (f *fixture, endpoint store.Endpoint) {
	f = newFixture(b, o)
	f.update(func(tx store.Tx) (err error) {
		endpoint, err = store.ImportEndpoint(tx, store.Endpoint{ID: "whe_pull", OrgID: testOrg, Events: []string{store.EventInstructionsChanged}})
		return err
	})
	for ; n > 0; n -= 1000 {
		f.update(func(tx store.Tx) (err error) {
			for range min(n, 1000) {
				if err == nil {
					_, err = store.SendTest(tx, testOrg, "whe_pull")
				}
			}
			return err
		})
	}
	return f, endpoint
}

// pullRound acknowledges what the last round pulled, and pulls up to 100.
func (f *fixture) pullRound(acked []string) (ids []string) {
	err := f.Update(bg, store.Scope{Orgs: []string{testOrg}, Deliveries: acked}, func(tx store.Tx) error {
		got, err := store.Pull(tx, "whe_pull", store.PullRequest{Key: pullKey, Ack: acked, Limit: 100, Lease: store.DefaultLease})
		ids = make([]string, 0, 100)
		for i := range got.Claims {
			ids = append(ids, got.Claims[i].Delivery.ID)
		}
		return err
	})
	must(f, err)
	return ids
}

// BenchmarkPull is what an event costs that one consumer pulls and acknowledges, in rounds of
// 100, with the disk's syncs and without.
func BenchmarkPull(b *testing.B) {
	for _, noSync := range []bool{false, true} {
		b.Run(map[bool]string{false: "synced", true: "not synced"}[noSync], func(b *testing.B) {
			f, _ := toPull(b, Options{NoSync: noSync}, b.N)
			b.ReportAllocs()
			b.ResetTimer()
			pulled := 0
			for ids := f.pullRound(nil); len(ids) > 0; ids = f.pullRound(ids) {
				pulled += len(ids)
			}
			b.StopTimer()
			if pulled != b.N {
				b.Errorf("%d events were pulled of %d", pulled, b.N)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			if !noSync {
				b.ReportMetric(float64(syncTime(b, b.TempDir()).Microseconds()), "µs/sync")
			}
		})
	}
}

var waitingToBePulled = flag.Int("pulled.waiting", 20_000, "how many deliveries wait in BenchmarkFirstPull; docs/reliability.md promises it of 1,000,000")

// BenchmarkFirstPull is what the first page of 100 takes where many deliveries wait, and how
// much memory that keeps; then again and again, undone.
func BenchmarkFirstPull(b *testing.B) {
	f, e := toPull(b, Options{}, *waitingToBePulled)
	f.close()
	f.open(Options{}) // nothing of it is in memory
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	f.view(func(tx store.Tx) error {
		at, err := tx.PullDue(e.Number)
		if at.IsZero() {
			return fmt.Errorf("nothing is due: %w", err)
		}
		return err
	})
	if len(f.pullRound(nil)) != 100 {
		b.Fatal("the first page is not 100")
	}
	first := time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportAllocs()
	for b.Loop() {
		err := f.Update(bg, store.InOrg(testOrg), func(tx store.Tx) error {
			_, err := store.Pull(tx, "whe_pull", store.PullRequest{Key: pullKey, Limit: 100, Lease: store.DefaultLease})
			return errors.Join(err, errUndo)
		})
		if !errors.Is(err, errUndo) {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(first.Microseconds())/1000, "ms-first")
	b.ReportMetric(float64(syncTime(b, b.TempDir()).Microseconds()), "µs/sync")
	b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/1024, "KiB-kept")
}
