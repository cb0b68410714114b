package boltstore

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

// outcomes is a store with 50 endpoints, to each of which a test was sent, and
// the deliveries' ids.
func outcomes(b *testing.B, o Options) (f *fixture, ids []string) {
	f = newFixture(b, o)
	f.update(func(tx store.Tx) (err error) {
		for i := range store.MaxEndpoints - 1 {
			id := fmt.Sprint("whe_", i+2)
			_, errEndpoint := store.ImportEndpoint(tx, store.Endpoint{
				ID: id, OrgID: testOrg, URL: "https://receiver.example/hook", Events: []string{store.EventMemberAdded},
			})
			d, errSend := store.SendTest(tx, testOrg, id)
			ids = append(ids, d.ID)
			err = errors.Join(err, errEndpoint, errSend)
		}
		return err
	})
	return f, ids
}

// acknowledge records an attempt that a receiver acknowledged at once.
func acknowledge(tx store.Tx, id string) error {
	_, err := store.RecordAttempt(tx, id, store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now().Add(20 * time.Millisecond), Status: 200}, nil)
	return err
}

// BenchmarkOutcome is what recording an attempt takes: alone, its writes undone,
// and among 64 that share commits which don't wait for the disk.
func BenchmarkOutcome(b *testing.B) {
	b.Run("undone", func(b *testing.B) {
		f, ids := outcomes(b, Options{NoSync: true})
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			err := f.Update(bg, store.All, func(tx store.Tx) error { return errors.Join(acknowledge(tx, ids[i%len(ids)]), errUndo) })
			if i++; !errors.Is(err, errUndo) {
				b.Fatal(err)
			}
		}
	})
	b.Run("64 callers", func(b *testing.B) {
		const callers = 64
		f, ids := outcomes(b, Options{NoSync: true})
		b.ReportAllocs()
		b.ResetTimer()
		var done sync.WaitGroup
		for caller := range callers {
			done.Go(func() {
				for i := caller; i < b.N; i += callers {
					f.update(func(tx store.Tx) error { return acknowledge(tx, ids[i%len(ids)]) })
				}
			})
		}
		done.Wait()
	})
}

// BenchmarkBytes is what an event that was delivered leaves in the file: in the
// pages of each bucket, by event.
func BenchmarkBytes(b *testing.B) {
	f := newFixture(b, Options{NoSync: true})
	const together = 100
	b.ResetTimer()
	for left := b.N; left > 0; left -= together {
		var ids []string
		f.update(func(tx store.Tx) error {
			for range together {
				d, err := store.SendTest(tx, testOrg, "whe_1")
				if ids = append(ids, d.ID); err != nil {
					return err
				}
			}
			return nil
		})
		f.update(func(tx store.Tx) (err error) {
			for _, id := range ids {
				err = errors.Join(err, acknowledge(tx, id))
			}
			return err
		})
	}
	b.StopTimer()
	must(b, f.db.View(func(bolt *bbolt.Tx) error {
		for _, name := range [][]byte{bucketEvents, bucketDeliveries, bucketDeliveryLists} {
			s := bolt.Bucket(name).Stats()
			b.ReportMetric(float64(s.LeafAlloc+s.BranchAlloc)/float64(b.N), "B/"+string(name))
		}
		return nil
	}))
}
