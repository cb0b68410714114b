package boltstore

import (
	"fmt"
	"testing"
	"time"

	"teamdata/store"
)

// BenchmarkSettings is what a settings page reads: the counts of 30 days of an
// org with 50 endpoints, among 99 orgs with one each, and pages of the latest of
// 200,000 audit entries.
func BenchmarkSettings(b *testing.B) {
	f := newFixture(b, Options{NoSync: true})
	b.Run("counts", func(b *testing.B) {
		const hours = 30 * 24
		f.fillCounts(hours)
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			f.view(func(tx store.Tx) error {
				return tx.EachDeliveryCounts(testOrg, someTime, func(uint64, time.Time, store.DeliveryCounts) { n++ })
			})
			if n != hours*store.MaxEndpoints {
				b.Fatalf("%d counts", n)
			}
		}
	})
	b.Run("latest audit entries", func(b *testing.B) {
		for range 20 {
			f.update(func(tx store.Tx) (err error) {
				for i := 0; i < 10_000 && err == nil; i++ {
					err = appendAudit("usr_1")(tx)
				}
				return err
			})
		}
		var buf []byte
		var before store.Cursor
		b.ReportAllocs()
		for b.Loop() {
			f.view(func(tx store.Tx) error {
				page, err := tx.AuditPageBefore(testOrg, before, 50, buf[:0])
				buf, before = page.Items, page.Last
				return err
			})
		}
	})
}

// fillCounts counts in so many hours from someTime on.
func (f *fixture) fillCounts(hours int) {
	f.Helper()
	for hour := range hours {
		at := someTime.Add(time.Duration(hour) * time.Hour)
		f.update(func(tx store.Tx) (err error) {
			for i := 0; i < store.MaxEndpoints+99 && err == nil; i++ {
				org := testOrg
				if i >= store.MaxEndpoints {
					org = fmt.Sprint("org_", i)
				}
				err = tx.AddDeliveryCounts(org, uint64(i), at, store.DeliveryCounts{Acknowledged: 1000, Failed: i, Latency: [8]int{1: 1000}})
			}
			return err
		})
	}
}
