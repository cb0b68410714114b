package store_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"teamdata/store"
)

// TestFormatTime: a time is written as the time package writes it in TimeFormat.
func TestFormatTime(t *testing.T) {
	times := []time.Time{
		{}, time.UnixMilli(0), store.MaxTime, time.Unix(0, 999_999), time.Unix(-1, 1), time.Unix(1, 999_999_999),
		time.Date(2026, 11, 22, 23, 30, 0, 70e6, time.FixedZone("", -5400)), time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	seed := rand.Uint64()
	draw := rand.New(rand.NewPCG(seed, 0))
	for range 1000 {
		times = append(times, time.Unix(0, draw.Int64()))
	}
	for _, at := range times {
		if got, want := store.FormatTime(at), at.UTC().Format(store.TimeFormat); got != want {
			t.Errorf("seed %d: %q, want %q", seed, got, want)
		}
	}
}
