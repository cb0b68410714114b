package storetest

import (
	"fmt"
	"time"

	"teamdata/store"
)

// counts shows what an org has counted from a time on.
func (s *subject) counts(org string, from time.Time) (list []string) {
	s.Helper()
	s.view(func(tx store.Tx) error {
		return tx.EachDeliveryCounts(org, from, func(endpoint uint64, hour time.Time, c store.DeliveryCounts) {
			list = append(list, fmt.Sprintf("%s %d %v", hour.Format("02T15:04:05Z07"), endpoint, c))
		})
	})
	return list
}

// testDeliveryCounts counts in many orgs, endpoints and hours, on the store and
// on an oracle, and reads from each hour on.
func testDeliveryCounts(s *subject) {
	o := newOracle()
	start := someTime.Truncate(time.Hour)
	s.update(func(tx store.Tx) error {
		for i := range 2000 {
			org, endpoint := likeIDs[i%len(likeIDs)], uint64(i*i%7)<<(i%3*8)
			at := start.Add(time.Duration(i*i*i%50) * 20 * time.Minute).Add(time.Duration(i%2) * (20*time.Minute - 1))
			c := store.DeliveryCounts{Acknowledged: i % 2, Retrying: i % 3, Failed: 1 << (i % 40)}
			c.Latency[i%8] = i
			if err := o.AddDeliveryCounts(org, endpoint, at, c); err != nil {
				return err
			}
			if err := tx.AddDeliveryCounts(org, endpoint, at, c); err != nil {
				return err
			}
		}
		return nil
	})
	model := &subject{TB: s.TB, Store: direct{tx: o}}
	for range 2 {
		for _, org := range append(likeIDs, "a!", "") {
			for hour := -1; hour <= 18; hour++ {
				for _, from := range []time.Time{start.Add(time.Duration(hour) * time.Hour), start.Add(time.Duration(hour+1)*time.Hour - 1)} {
					s.equal(fmt.Sprintf("counts of %q from hour %d on", org, hour), s.counts(org, from), model.counts(org, from))
				}
			}
		}
		s.reopen()
	}
	s.equal("there are some", len(s.counts("a", start)) > 20, true)
}

// testDeliveryCountsKept drops counts at both sides of the bound, and no more at
// once than it is told.
func testDeliveryCountsKept(s *subject) {
	hour := func(n int) time.Time { return epoch.Add(time.Duration(n) * time.Hour) }
	s.update(func(tx store.Tx) error {
		for n := range 30 {
			for _, org := range []string{acme, other} {
				if err := tx.AddDeliveryCounts(org, 1, hour(n), store.DeliveryCounts{Failed: n + 1}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	drop := func(before time.Time, limit, want int) {
		s.Helper()
		s.update(func(tx store.Tx) error {
			n, err := tx.DropDeliveryCounts(before, limit)
			s.equal("dropped", n, want)
			return err
		})
	}
	drop(hour(1).Add(-1), 100, 0) // the first hour has not ended
	drop(hour(1), 100, 2)
	drop(hour(5), 3, 3)
	drop(hour(5), 100, 5)
	drop(time.UnixMilli(0), 100, 0)
	s.equal("left", []any{len(s.counts(acme, hour(0))), len(s.counts(other, hour(0)))}, []any{25, 25})
	s.clock.move(hour(10).Add(store.DeliveryCountsRetention).Sub(s.clock.now()))
	s.sweep(day)
	s.equal("left after the sweep", s.counts(acme, hour(0))[:1], []string{hour(10).Format("02T15:04:05Z07") + " 1 {0 0 11 [0 0 0 0 0 0 0 0]}"})
	s.clock.move(time.Hour - time.Millisecond)
	s.sweep(day)
	s.equal("left before the next hour", len(s.counts(acme, hour(0))), 20)
	s.clock.move(time.Millisecond)
	s.sweep(day)
	s.equal("left after it", len(s.counts(acme, hour(0))), 19)
}

// testAttemptsAreCounted: each outcome in the hour in which it ended, and each
// bound of the latencies from both sides.
func testAttemptsAreCounted(s *subject) {
	s.seed()
	start := s.clock.now().Add(-time.Minute)
	try := func(id string, a store.Attempt, schedule ...time.Duration) {
		s.Helper()
		s.update(func(tx store.Tx) error { return second(store.RecordAttempt(tx, id, a, schedule)) })
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
	s.equal("counts", s.counts(acme, start), []string{
		counted(epoch.Add(-time.Hour), first), counted(epoch, store.DeliveryCounts{Acknowledged: 1, Latency: [8]int{7: 1}}),
	})
	s.equal("of another org", s.counts(other, start), []string{})
	s.update(removeEndpoint(acme, "whe_1"))
	s.sweep(day)
	s.equal("counts of a removed endpoint", len(s.counts(acme, start)), 2)
}
