package boltstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"teamdata/store"
)

// BenchmarkBackup is how long 64 callers wait for their Updates while one backup
// after another is taken, beside the same callers without one, in turns.
func BenchmarkBackup(b *testing.B) {
	const members, turn = 400_000, 5 * time.Second
	f := newFixture(b, Options{})
	f.addMany(members)
	calm, busy := []time.Duration{}, []time.Duration{}
	backups := 0
	for b.Loop() {
		calm = append(calm, f.updateFor(turn)...)
		ctx, cancel := context.WithTimeout(bg, turn)
		var backing sync.WaitGroup
		backing.Go(func() {
			for to := filepath.Join(b.TempDir(), "backup.db"); f.Backup(ctx, to) == nil; backups++ {
				must(b, os.Remove(to))
			}
		})
		busy = append(busy, f.updateFor(turn)...)
		cancel()
		backing.Wait()
	}
	info, err := os.Stat(f.path)
	must(b, err)
	b.ReportMetric(float64(info.Size())/1e6, "MB")
	b.ReportMetric(float64(backups)/float64(b.N)/turn.Seconds(), "backups/s")
	b.ReportMetric(percentile(calm, 50), "p50-alone-ms")
	b.ReportMetric(percentile(busy, 50), "p50-ms")
	b.ReportMetric(percentile(calm, 99), "p99-alone-ms")
	b.ReportMetric(percentile(busy, 99), "p99-ms")
	b.ReportMetric(float64(len(busy))/float64(len(calm)), "done/alone")
}

func percentile(times []time.Duration, percent int) (ms float64) {
	slices.Sort(times)
	return float64(times[len(times)*percent/100].Microseconds()) / 1000
}

func (f *fixture) addMany(members int) {
	f.Helper()
	const each = 10_000
	for from := 0; from < members; from += each {
		f.update(func(tx store.Tx) error {
			for i := from; i < from+each; i++ {
				if err := appendAudit(fmt.Sprintf("usr_%08d", i))(tx); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// updateFor has 64 callers append audit entries for a while, and returns how long
// each Update took.
func (f *fixture) updateFor(while time.Duration) (took []time.Duration) {
	ctx, cancel := context.WithTimeout(bg, while)
	defer cancel()
	return f.updateUntil(ctx, appendAudit("usr_1"))
}

// updateUntil has 64 callers make Updates until ctx is done, and returns how long
// each took.
func (f *fixture) updateUntil(ctx context.Context, fn func(store.Tx) error) (took []time.Duration) {
	const callers = 64
	var mu sync.Mutex
	var done sync.WaitGroup
	for range callers {
		done.Go(func() {
			var mine []time.Duration
			for ctx.Err() == nil {
				start := time.Now()
				f.update(fn)
				mine = append(mine, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	done.Wait()
	return took
}
