package storetest

import (
	"fmt"
	"time"

	"teamdata/store"
)

// likeIDs begin alike, in their order.
var likeIDs = []string{"A", "a", "a-", "a0", "aa", "b"}

// testDeliveryCounts counts in many orgs, endpoints and hours, on the store and
// on an oracle, and reads from each hour on.
func testDeliveryCounts(s *Subject) {
	o := newOracle()
	start := someTime.Truncate(time.Hour)
	s.Write(func(tx store.Tx) error {
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
	model := &Subject{TB: s.TB, Store: direct{tx: o.Tx}}
	for range 2 {
		for _, org := range append(likeIDs, "a!", "") {
			for hour := -1; hour <= 18; hour++ {
				for _, from := range []time.Time{start.Add(time.Duration(hour) * time.Hour), start.Add(time.Duration(hour+1)*time.Hour - 1)} {
					s.Equal(fmt.Sprintf("counts of %q from hour %d on", org, hour), s.Counts(org, from), model.Counts(org, from))
				}
			}
		}
		s.Reopen()
	}
	s.Equal("there are some", len(s.Counts("a", start)) > 20, true)
}

// testDeliveryCountsKept drops counts at both sides of the bound, and no more at
// once than it is asked to.
func testDeliveryCountsKept(s *Subject) {
	hour := func(n int) time.Time { return epoch.Add(time.Duration(n) * time.Hour) }
	s.Write(func(tx store.Tx) error {
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
		s.Write(func(tx store.Tx) error {
			n, err := tx.DropDeliveryCounts(before, limit)
			s.Equal("dropped", n, want)
			return err
		})
	}
	drop(hour(1).Add(-1), 100, 0) // the first hour has not ended
	drop(hour(1), 100, 2)
	drop(hour(5), 3, 3)
	drop(hour(5), 100, 5)
	drop(time.UnixMilli(0), 100, 0)
	s.Equal("left", []any{len(s.Counts(acme, hour(0))), len(s.Counts(other, hour(0)))}, []any{25, 25})
}
