package store_test

import (
	"testing"
	"time"

	"teamdata/internal/ratelimit"
	"teamdata/store"
)

// BenchmarkLimiter is what a request pays to be counted in memory, beside the limiter
// itself.
func BenchmarkLimiter(b *testing.B) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	b.Run("itself", func(b *testing.B) {
		l := ratelimit.New[string](100, time.Minute, 100_000)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			l.Take("key_01", now.Add(time.Duration(i)*time.Second))
		}
	})
	b.Run("store", func(b *testing.B) {
		l := new(store.Alone).Limiter(store.Limit{Max: 100, Window: time.Minute, Tracked: 100_000})
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			l.Take(b.Context(), "key_01", now.Add(time.Duration(i)*time.Second))
		}
	})
}
