package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"teamdata/store"
)

// TestAttemptsAreCounted: each outcome in the hour in which it ended, and each
// bound of the latencies from both sides.
func TestAttemptsAreCounted(t *testing.T) { onBoth(t, testAttemptsAreCounted) }

func testAttemptsAreCounted(s *subject) {
	s.Seed()
	start := s.Clock.Now().Add(-time.Minute)
	try := func(id string, a store.Attempt, schedule ...time.Duration) {
		s.Helper()
		s.Write(func(tx store.Tx) error { return second(store.RecordAttempt(tx, id, a, schedule)) })
	}
	var want [8]int
	for i, bound := range store.LatencyBounds {
		for _, id := range s.sendTests("whe_1", 1+i) {
			try(id, store.Attempt{StartedAt: start, EndedAt: start.Add(bound), Status: 204})
			want[i]++
		}
		try(s.sendTests("whe_1", 1)[0], store.Attempt{StartedAt: start, EndedAt: start.Add(bound + 1), Status: 200})
		want[i+1]++
	}
	last := start.Add(10 * time.Second)
	id := s.sendTests("whe_1", 1)[0]
	try(id, store.Attempt{StartedAt: start, EndedAt: last, Status: 500, Reason: "no"}, time.Hour)
	try(id, store.Attempt{StartedAt: start, EndedAt: last, Status: 200, Reason: "too long"})
	try(s.sendTests("whe_1", 1)[0], store.Attempt{StartedAt: start, EndedAt: epoch, Status: 200})
	want[7]++ // that took a minute, and ended in the next hour
	counted := func(hour time.Time, c store.DeliveryCounts) string {
		return fmt.Sprintf("%s 1 %v", hour.Format("02T15:04:05Z07"), c)
	}
	first := store.DeliveryCounts{Acknowledged: 35, Retrying: 1, Failed: 1, Latency: want}
	first.Latency[7]--
	s.Equal("counts", s.Counts(acme, start), []string{
		counted(epoch.Add(-time.Hour), first), counted(epoch, store.DeliveryCounts{Acknowledged: 1, Latency: [8]int{7: 1}}),
	})
	s.Equal("of another org", s.Counts(other, start), []string{})
	s.Write(removeEndpoint(acme, "whe_1"))
	s.sweep(day)
	s.Equal("counts of a removed endpoint", len(s.Counts(acme, start)), 2)
}

// TestDeliveryCountsAreSwept drops counts when the hour has ended as long ago as
// they are kept.
func TestDeliveryCountsAreSwept(t *testing.T) { onBoth(t, testDeliveryCountsAreSwept) }

func testDeliveryCountsAreSwept(s *subject) {
	s.Write(func(tx store.Tx) (err error) {
		for n := range 30 {
			at := epoch.Add(time.Duration(n) * time.Hour)
			err = errors.Join(err, tx.AddDeliveryCounts(acme, 1, at, store.DeliveryCounts{Failed: n + 1}))
		}
		return err
	})
	left := func() int { return len(s.Counts(acme, epoch)) }
	s.Clock.Move(10*time.Hour + 31*day)
	s.sweep(day)
	s.Equal("left after the sweep", s.Counts(acme, epoch)[0], epoch.Add(10*time.Hour).Format("02T15:04:05Z07")+" 1 {0 0 11 [0 0 0 0 0 0 0 0]}")
	s.Clock.Move(time.Hour - time.Millisecond)
	s.sweep(day)
	s.Equal("left before the next hour", left(), 20)
	s.Clock.Move(time.Millisecond)
	s.sweep(day)
	s.Equal("left after it", left(), 19)
}
