package boltstore

import (
	"errors"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

// countFailed counts an unsuccessful attempt.
func countFailed(tx store.Tx) error {
	return tx.AddDeliveryCounts(testOrg, 1, someTime, store.DeliveryCounts{Failed: 1})
}

func countedFailed(t testing.TB, tx store.Tx) (n int) {
	t.Helper()
	err := tx.EachDeliveryCounts(testOrg, epoch, func(_ uint64, _ time.Time, c store.DeliveryCounts) { n += c.Failed })
	if err != nil {
		t.Error(err)
	}
	return n
}

// TestCountsOfABatch: what the updates of a batch count is one record. Each sees
// what was counted before it, and takes back no more than it counted itself.
func TestCountsOfABatch(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	var seen []int
	look := func(tx store.Tx) { seen = append(seen, countedFailed(t, tx)) }
	failure := errors.New("on purpose")
	for i, err := range f.batch(
		countFailed,
		func(tx store.Tx) error { return errors.Join(countFailed(tx), failure) },
		countFailed,
		func(tx store.Tx) error {
			err := errors.Join(countFailed(tx), failure)
			look(tx)
			return err
		},
		func(tx store.Tx) error {
			look(tx)
			err := countFailed(tx)
			look(tx)
			return err
		},
		func(tx store.Tx) error { return errors.Join(countFailed(tx), failure) },
		countFailed,
	) {
		if want := []error{nil, failure, nil, failure, nil, failure, nil}[i]; !errors.Is(err, want) {
			t.Errorf("%d: %v", i, err)
		}
	}
	f.view(func(tx store.Tx) error {
		look(tx)
		return nil
	})
	f.says("counted", seen, "[3 2 3 4]")
}

// TestCountsAreACommit: an update that only counts is committed, and one whose
// counts are undone is not.
func TestCountsAreACommit(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	before := f.commits()
	f.batch(func(tx store.Tx) error { return errors.Join(countFailed(tx), errors.New("on purpose")) })
	f.says("commits of none", f.commits()-before, "0")
	f.batch(countFailed)
	f.says("commits of one", f.commits()-before, "1")
}

// TestDamagedCounts: counts that can't be added to a damaged record fail no update,
// and the record stays as it is.
func TestDamagedCounts(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	f.batch(countFailed)
	must(t, f.db.Update(func(bolt *bbolt.Tx) error { return spoil(bolt.Bucket(bucketDeliveryCounts)) }))
	before := f.dump()
	for _, err := range f.batch(countFailed, countFailed) {
		must(t, err)
	}
	f.says("counts", f.dump(), before)
}
