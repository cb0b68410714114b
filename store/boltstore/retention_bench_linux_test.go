package boltstore

import (
	"context"
	"testing"
	"time"

	"teamdata/store"
)

// BenchmarkSweep is how many events 64 callers get accepted, and how long they wait,
// while a sweep drops 200,000 finished deliveries, beside the same callers without
// one, in turns.
func BenchmarkSweep(b *testing.B) {
	const finished, turn = 200_000, 5 * time.Second
	send := func(tx store.Tx) error {
		_, err := store.SendTest(tx, testOrg, "whe_1")
		return err
	}
	f := newFixture(b, Options{})
	calm, busy := []time.Duration{}, []time.Duration{}
	var sweeping time.Duration
	for b.Loop() {
		f.addFinished(finished)
		ctx, cancel := context.WithTimeout(bg, turn)
		calm = append(calm, f.updateUntil(ctx, send)...)
		cancel()
		ctx, cancel = context.WithCancel(bg)
		start := time.Now()
		go func() {
			defer cancel()
			f.sweep()
		}()
		busy = append(busy, f.updateUntil(ctx, send)...)
		sweeping += time.Since(start)
	}
	alone := float64(len(calm)) / float64(b.N) / turn.Seconds()
	beside := float64(len(busy)) / sweeping.Seconds()
	b.ReportMetric(finished*float64(b.N)/sweeping.Seconds(), "dropped/s")
	b.ReportMetric(percentile(calm, 99), "p99-alone-ms")
	b.ReportMetric(percentile(busy, 99), "p99-ms")
	b.ReportMetric(alone, "accepts/s-alone")
	b.ReportMetric(beside, "accepts/s")
	b.ReportMetric(beside/alone, "done/alone")
}
