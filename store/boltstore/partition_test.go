package boltstore

import (
	"fmt"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/rows"
)

// clock is a clock that a test sets. Only the writer reads it while it is set.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClocked(t *testing.T, at time.Time) (*fixture, *clock) {
	c := &clock{at}
	return newFixture(t, Options{Now: c.now, NoSync: true}), c
}

func (f *fixture) useKey(key string) {
	f.Helper()
	f.update(func(tx store.Tx) error {
		return tx.AddIdempotencyRecord(store.IdempotencyRecord{OrgID: testOrg, Key: key, FirstUse: tx.Now()})
	})
}

func (f *fixture) findsKey(key string) bool {
	f.Helper()
	var err error
	f.view(func(tx store.Tx) error {
		_, err = tx.IdempotencyRecord(testOrg, key)
		return nil
	})
	if err != nil && !store.IsNotFound(err) {
		f.Fatal(err)
	}
	return err == nil
}

func (f *fixture) expire(limit int) (n int) {
	f.Helper()
	f.update(func(tx store.Tx) (err error) {
		n, err = tx.ExpireIdempotencyRecords(limit)
		return err
	})
	if n > limit {
		f.Fatalf("%d records were dropped at once, above the limit %d", n, limit)
	}
	return n
}

func (f *fixture) partitions() (n int) {
	f.Helper()
	must(f, f.db.View(func(tx *bbolt.Tx) error {
		n = tx.Bucket(bucketIdempotency).Stats().BucketN - 1
		return nil
	}))
	return n
}

var (
	bucketIdempotency = []byte("idempotency")
	idempotencyKind   = rows.Named("idempotency")
	partitionSpan     = idempotencyKind.Span
)

// partitionStart is the start of a partition.
var partitionStart = time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)

func TestKeyIsFoundForItsTime(t *testing.T) {
	for _, first := range []time.Duration{0, time.Millisecond, partitionSpan / 2, partitionSpan - time.Millisecond} {
		f, c := newClocked(t, partitionStart.Add(first))
		f.useKey("k")
		for after, want := range map[time.Duration]bool{
			0: true, partitionSpan: true, store.IdempotencyTTL - time.Millisecond: true,
			store.IdempotencyTTL: false, store.IdempotencyTTL + partitionSpan: false,
		} {
			c.at = partitionStart.Add(first + after)
			if found := f.findsKey("k"); found != want {
				t.Errorf("first used %v into its partition, %v later: found is %v", first, after, found)
			}
		}
	}
}

// TestKeyOutlivesAClockStep: a request that is repeated after the clock stepped
// back over a partition's start is not executed again.
func TestKeyOutlivesAClockStep(t *testing.T) {
	f, c := newClocked(t, partitionStart.Add(time.Second))
	f.useKey("k")
	c.at = partitionStart.Add(-time.Second)
	if !f.findsKey("k") {
		t.Error("the key is forgotten")
	}
}

// TestClockWithoutBattery is for a machine whose clock starts in 1970.
func TestClockWithoutBattery(t *testing.T) {
	for _, at := range []time.Duration{0, time.Hour, 24 * time.Hour, 25 * time.Hour} {
		f, _ := newClocked(t, time.UnixMilli(0).Add(at))
		if f.findsKey("k") {
			t.Error("found before it was used")
		}
		f.useKey("k")
		if !f.findsKey("k") {
			t.Errorf("%v into 1970 the key is forgotten", at)
		}
		if n := f.expire(10); n != 0 {
			t.Errorf("%d records have expired", n)
		}
	}
}

// TestExpireDropsPartitions: with nobody else writing, too.
func TestExpireDropsPartitions(t *testing.T) {
	f, c := newClocked(t, partitionStart)
	const n = 5
	for i := range n { // one a partition
		f.useKey(fmt.Sprint("a", i))
		f.useKey(fmt.Sprint("b", i))
		c.at = c.at.Add(partitionSpan)
	}
	if f.partitions() != n {
		t.Fatalf("%d partitions", f.partitions())
	}
	c.at = c.at.Add(2 * store.IdempotencyTTL)
	total := 0
	for {
		dropped := f.expire(1)
		if dropped == 0 {
			break
		}
		total += dropped
	}
	if total != 2*n || f.partitions() != 0 || len(f.keys.partitions) != 0 {
		t.Errorf("%d records dropped, %d partitions left, %d in the index", total, f.partitions(), len(f.keys.partitions))
	}
	before := f.commits()
	f.expire(1)
	if f.commits() != before {
		t.Error("expiring nothing made a commit")
	}
}
