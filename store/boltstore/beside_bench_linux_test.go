package boltstore

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/store"
)

// BenchmarkBeside is how many Updates 64 callers get done, and how long they wait,
// beside long work on the file, and beside nothing, in turns.
func BenchmarkBeside(b *testing.B) {
	for _, beside := range []struct {
		name string
		work func(f *fixture) (dropped int)
	}{
		{"a reader of pages", (*fixture).readPages},
		{"a backup", (*fixture).backUp},
		{"a sweep", (*fixture).sweep},
	} {
		b.Run(beside.name, func(b *testing.B) {
			f := newFixture(b, Options{})
			var calm, busy updates
			missing := finishedBefore
			for b.Loop() {
				f.addFinished(missing)
				calm.makeWhile(f, func() { <-time.After(besideTurn) })
				busy.makeWhile(f, func() { missing = beside.work(f) })
			}
			info, err := os.Stat(f.path)
			must(b, err)
			b.ReportMetric(float64(info.Size())/1e6, "MB")
			b.ReportMetric(busy.passed.Seconds()/float64(b.N), "s")
			busy.reportBeside(b, &calm)
		})
	}
}

var deletedBefore = flag.Int("deleted", 100_000, "how many deliveries were stored and dropped before BenchmarkAfterDeletions")

// BenchmarkAfterDeletions is how many Updates 64 callers get done in a file in which
// many deliveries were stored and dropped, and how long they wait, beside a fresh
// file, in turns.
func BenchmarkAfterDeletions(b *testing.B) {
	fresh, used := newFixture(b, Options{}), newFixture(b, Options{})
	used.addFinished(*deletedBefore)
	used.sweep()
	turn := func() { <-time.After(besideTurn) }
	var calm, busy updates
	for b.Loop() {
		calm.makeWhile(fresh, turn)
		busy.makeWhile(used, turn)
	}
	busy.reportBeside(b, &calm)
}

const (
	finishedBefore = 100_000 // deliveries, which take about 60 MB
	besideTurn     = 3 * time.Second
)

// readPages reads pages of 100 deliveries, one after the other, again and again.
func (f *fixture) readPages() (dropped int) {
	var after store.Cursor
	for began := time.Now(); time.Since(began) < besideTurn; {
		f.view(func(tx store.Tx) error {
			page, more, err := tx.DeliveryPage(1, store.ListAcknowledged, after, 100)
			if after = (store.Cursor{}); more {
				_, after = page[len(page)-1].Position()
			}
			return err
		})
	}
	return 0
}

func (f *fixture) backUp() (dropped int) {
	to := filepath.Join(f.TempDir(), "backup.db")
	must(f, f.Backup(bg, to))
	must(f, os.Remove(to))
	return 0
}

func percentile(times []time.Duration, percent int) (ms float64) {
	slices.Sort(times)
	return float64(times[len(times)*percent/100].Microseconds()) / 1000
}

// updates are Updates that were made, and how long each took.
type updates struct {
	took   []time.Duration
	passed time.Duration
}

// reportBeside reports u beside what was done alone.
func (u *updates) reportBeside(b *testing.B, alone *updates) {
	b.Helper()
	b.ReportMetric(alone.rate(), "alone/s")
	b.ReportMetric(u.rate()/alone.rate(), "done/alone")
	b.ReportMetric(percentile(alone.took, 50), "p50-alone-ms")
	b.ReportMetric(percentile(u.took, 50), "p50-ms")
	b.ReportMetric(percentile(alone.took, 99), "p99-alone-ms")
	b.ReportMetric(percentile(u.took, 99), "p99-ms")
	b.ReportMetric(0, "ns/op")
}

func (u *updates) rate() float64 { return float64(len(u.took)) / u.passed.Seconds() }

// makeWhile has 64 callers make Updates for as long as something else takes.
func (u *updates) makeWhile(f *fixture, other func()) {
	const callers = 64
	var mu sync.Mutex
	var done sync.WaitGroup
	var over atomic.Bool
	began := time.Now()
	for range callers {
		done.Go(func() {
			var mine []time.Duration
			for start := time.Now(); !over.Load(); start = time.Now() {
				f.update(func(tx store.Tx) error {
					_, err := store.SendTest(tx, testOrg, "whe_1")
					return err
				})
				mine = append(mine, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			u.took = append(u.took, mine...)
		})
	}
	other()
	over.Store(true)
	u.passed += time.Since(began)
	done.Wait()
}
