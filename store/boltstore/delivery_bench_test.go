package boltstore

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"teamdata/store"
)

// BenchmarkPutDelivery is what an outcome writes of its delivery, which moves from
// one list to another: after the first attempt, and after five. The writes are
// undone, 50 at a time.
func BenchmarkPutDelivery(b *testing.B) {
	for _, attempts := range []int{0, 5} {
		b.Run(fmt.Sprint(attempts, " attempts before"), func(b *testing.B) {
			f, ids := outcomes(b, Options{NoSync: true})
			deliveries := make([]store.Delivery, len(ids))
			f.update(func(tx store.Tx) (err error) {
				for i, id := range ids {
					for range attempts {
						a := store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now().Add(time.Second), Status: 500, Reason: "it answered 500", Answer: make([]byte, 200)}
						_, e := store.RecordAttempt(tx, id, a, store.DefaultRetrySchedule)
						err = errors.Join(err, e)
					}
					d, e := tx.Delivery(id)
					d.State, d.FinishedAt = store.StateAcknowledged, tx.Now()
					deliveries[i] = d
					err = errors.Join(err, e)
				}
				return err
			})
			b.ReportAllocs()
			for left := b.N; left > 0; left -= len(ids) {
				err := f.Update(bg, store.All, func(tx store.Tx) (err error) {
					for i := range min(left, len(ids)) {
						err = errors.Join(err, tx.PutDelivery(deliveries[i]))
					}
					return errors.Join(err, errUndo)
				})
				if !errors.Is(err, errUndo) {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReadDelivery is what it takes to read a delivery, and an endpoint, whole.
func BenchmarkReadDelivery(b *testing.B) {
	f, ids := outcomes(b, Options{NoSync: true})
	f.view(func(tx store.Tx) error {
		b.Run("delivery", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tx.Delivery(ids[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("endpoint", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tx.Endpoint(testOrg, "whe_1"); err != nil {
					b.Fatal(err)
				}
			}
		})
		return nil
	})
}
