package boltstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
	"teamdata/store/rows"
)

// LimitKeys limits the index of a Store that was just opened.
func LimitKeys(s *Store, keys int) { s.keys.max = keys }

// once uses a key unless it was used, as a request does.
func once(key string, used *bool) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := tx.IdempotencyRecord(testOrg, key)
		if *used = err == nil; !store.IsNotFound(err) {
			return err
		}
		return tx.AddIdempotencyRecord(store.IdempotencyRecord{OrgID: testOrg, Key: key, FirstUse: tx.Now()})
	}
}

// finds holds the store to finding the keys, and no other.
func (f *fixture) finds(keys []string) {
	f.Helper()
	for _, key := range keys {
		if !f.findsKey(key) {
			f.Errorf("the key %s is not found", key)
		}
		if f.findsKey(key + "?") {
			f.Errorf("the key %s? is found", key)
		}
	}
}

// forgetIndex makes the index unread, as it is when a store has just been opened.
// read reads it.
func (f *fixture) forgetIndex() (read func()) {
	must(f, f.awaitKeys(bg))
	k := &f.keys
	k.done = make(chan struct{})
	for _, p := range k.partitions {
		clear(p.slots)
		p.unread = p.last
	}
	partitions := slices.Clone(k.partitions)
	read = sync.OnceFunc(func() { f.readKeys(partitions) })
	f.Cleanup(read) // Close waits for it
	return read
}

// TestKeysAreFoundAgain: after a restart every key of some partitions is found,
// wherever its record is, and new ones follow.
func TestKeysAreFoundAgain(t *testing.T) {
	f, c := newClocked(t, partitionStart)
	var keys []string
	use := func(n int) {
		f.update(func(tx store.Tx) (err error) {
			for range n {
				key := fmt.Sprint("key ", len(keys))
				keys = append(keys, key)
				err = errors.Join(err, tx.AddIdempotencyRecord(store.IdempotencyRecord{OrgID: testOrg, Key: key, FirstUse: tx.Now()}))
			}
			return err
		})
	}
	for _, most := range []int{999, 3300, maxIndexed} {
		f.keys.max = most
		use(2500)
		c.at = c.at.Add(partitionSpan)
		f.close()
		wellKept(t, f.path)
		f.open(Options{Now: c.now, NoSync: true})
		f.finds(keys)
		use(1)
		f.finds(keys[len(keys)-1:])
	}
	if n := f.keys.len(); n != 3300+1+2500+1 {
		t.Errorf("%d records have a position", n)
	}
	c.at = c.at.Add(2 * store.IdempotencyTTL)
	dropped := 0
	for n := f.expire(1000); n > 0; n = f.expire(1000) {
		dropped += n
	}
	if dropped != len(keys) || f.keys.len() != 0 {
		t.Errorf("of %d records %d were dropped, %d are in the index", len(keys), dropped, f.keys.len())
	}
}

// TestKeysBeyondTheIndex: records for which the index has no room are found by
// their keys, and make room for later ones when they expire.
func TestKeysBeyondTheIndex(t *testing.T) {
	f, c := newClocked(t, partitionStart)
	f.keys.max = 2
	keys := []string{"a", "b", "c", "d"}
	for _, again := range []bool{false, true} {
		for _, key := range keys {
			var used bool
			f.update(once(key, &used))
			if used != again {
				t.Errorf("%s: used is %v", key, used)
			}
		}
	}
	if n := f.keys.len(); n != 2 {
		t.Errorf("%d records have a position", n)
	}
	c.at = c.at.Add(store.IdempotencyTTL + partitionSpan)
	for f.expire(3) > 0 {
	}
	f.useKey("e")
	if n := f.keys.len(); n != 1 {
		t.Errorf("%d records have a position once the others expired", n)
	}
	f.finds([]string{"e"})
	f.close()
	wellKept(t, f.path)
}

// TestKeysOfOneHash: two keys have the same hash, and each its own record, also
// when one is taken back.
func TestKeysOfOneHash(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	seen := map[uint32]string{}
	var one, other string
	for i := 0; other == ""; i++ {
		key := fmt.Sprint("key ", i)
		hash := f.keys.hash(orgKey(testOrg, key))
		if one = seen[hash]; one != "" {
			other = key
		}
		seen[hash] = key
	}
	var used [3]bool
	failing := func(tx store.Tx) error { return errors.Join(once(one, &used[0])(tx), errors.New("on purpose")) }
	errs := f.batch(failing, once(other, &used[1]), once(one, &used[2]))
	if errs[0] == nil || errs[1] != nil || errs[2] != nil || used != [3]bool{} {
		t.Errorf("errors %v, used %v", errs, used)
	}
	f.finds([]string{one, other})
	f.close()
	f.open(Options{})
	f.finds([]string{one, other})
}

// TestIndexOfFewHashes holds the index to a list, where so few hashes are used that they
// meet all the time.
func TestIndexOfFewHashes(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		k := keyIndex{max: maxIndexed, partitions: []*keyPartition{{number: 1, slots: map[uint32]uint32{}}}}
		var want, added []keyEntry
		for range 100 {
			switch random.IntN(8) {
			case 0: // a batch ends
				if random.IntN(3) == 0 {
					k.end(errors.New("on purpose"))
				} else {
					k.end(nil)
					want = append(want, added...)
				}
				added = nil
			case 1: // an update fails
				n := random.IntN(len(added) + 1)
				k.undo(n)
				added = added[:n]
			default:
				hash := ^uint32(0) - 3 + random.Uint32N(8) // over the end of the numbers
				added = append(added, keyEntry{hash, k.add(nil, 1, nil, hash)})
			}
			for _, e := range slices.Concat(want, added) {
				if places, _ := k.find(nil, e.hash, nil); !slices.Contains(places, keyPlace{1, e.position}) {
					t.Fatalf("seed %d: the hash %x is found at %v, and not at %d", seed, e.hash, places, e.position)
				}
			}
		}
	}
}

// TestFailedCommitLeavesNoKeys: a key whose commit fails is unused, and nothing of
// it is left in the index.
func TestFailedCommitLeavesNoKeys(t *testing.T) {
	failing := false
	f := newFixture(t, Options{NoSync: true, BeforeCommit: func() error {
		if failing {
			return syscall.ENOSPC
		}
		return nil
	}})
	f.useKey("before")
	var used [2]bool
	failing = true
	for _, err := range f.batch(once("a", &used[0]), once("b", &used[1])) {
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("it failed with %v", err)
		}
	}
	if n := f.keys.len(); n != 1 {
		t.Errorf("%d entries are left", n)
	}
	failing = false
	for range 2 {
		for _, err := range f.batch(once("a", &used[0]), once("b", &used[1])) {
			must(t, err)
		}
	}
	if used != [2]bool{true, true} || f.keys.len() != 3 {
		t.Errorf("used the second time: %v; %d entries", used, f.keys.len())
	}
	f.finds([]string{"before", "a", "b"})
}

// TestKeysWhileTheIndexIsRead: until it is read, whoever needs to know that a key
// is unused waits, and nobody else does.
func TestKeysWhileTheIndexIsRead(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	f.useKey("old")
	read := f.forgetIndex()
	f.useKey("fresh")
	var runs atomic.Int32 // that looked
	var used, swallowed bool
	var viewed error
	waiting := map[string]func() error{
		"Update": func() error {
			return f.Update(bg, store.All, func(tx store.Tx) error {
				defer runs.Add(1)
				return once("old", &used)(tx)
			})
		},
		"Update that goes on": func() error {
			return f.Update(bg, store.All, func(tx store.Tx) error {
				defer runs.Add(1)
				_, err := tx.IdempotencyRecord(testOrg, "other")
				swallowed = store.IsNotFound(err)
				return tx.PutCertificate(fmt.Sprint(swallowed), []byte("pem"))
			})
		},
		"View": func() error {
			return f.View(bg, func(tx store.Tx) error {
				defer runs.Add(1)
				_, viewed = tx.IdempotencyRecord(testOrg, "old")
				return nil
			})
		},
	}
	ended := make(chan error, len(waiting))
	for _, wait := range waiting {
		go func() { ended <- wait() }()
	}
	until(t, "all have tried", func() bool { return int(runs.Load()) == len(waiting) })
	f.update(appendAudit("usr_1"))
	if !f.findsKey("fresh") {
		t.Error("a key that is in the index is not found")
	}
	cancelled, cancel := context.WithCancel(bg)
	if err := f.Update(cancelled, store.All, func(tx store.Tx) error {
		defer cancel()
		return once("old", new(bool))(tx)
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while it waits: %v", err)
	}
	if len(ended) > 0 {
		t.Error("one did not wait")
	}
	read()
	for range waiting {
		must(t, <-ended)
	}
	if !used || !swallowed || viewed != nil || int(runs.Load()) != 2*len(waiting) {
		t.Errorf("used %v, unused %v, viewed: %v; %d runs", used, swallowed, viewed, runs.Load())
	}
	f.view(func(tx store.Tx) error {
		if _, err := tx.Certificate("false"); !store.IsNotFound(err) {
			t.Error("what an update did before the index was read is kept")
		}
		_, err := tx.Certificate("true")
		return err
	})
}

// TestCloseWhileTheIndexIsRead: those who wait are told.
func TestCloseWhileTheIndexIsRead(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	f.useKey("old")
	read := f.forgetIndex()
	ran, ended := make(chan struct{}, 2), make(chan error, 1)
	go func() {
		ended <- f.Update(bg, store.All, func(tx store.Tx) error {
			ran <- struct{}{}
			return once("new", new(bool))(tx)
		})
	}()
	<-ran
	closed := make(chan error, 1)
	go func() { closed <- f.Close() }()
	until(t, "it is closing", f.keys.closing.Load)
	read()
	if err := <-ended; store.CodeOf(err) != store.CodeUnavailable {
		t.Errorf("the one that waits: %v", err)
	}
	must(t, <-closed)
}

// TestDamagedKeys: where a record doesn't say whose it is, no key below it counts
// as unused.
func TestDamagedKeys(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	for _, key := range []string{"a", "b", "c"} {
		f.useKey(key)
	}
	f.close()
	db, err := bbolt.Open(f.path, boltfile.Mode, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error {
		return inPartition(put(numberKey(2), []byte{0xff}))(tx.Bucket(bucketIdempotency))
	}))
	must(t, db.Close())
	f.open(Options{NoSync: true})
	if f.awaitKeys(bg); !f.findsKey("c") {
		t.Error("a key above it is not found")
	}
	for _, key := range []string{"a", "b", "new"} {
		err := f.Update(bg, store.All, once(key, new(bool)))
		if store.CodeOf(err) != store.CodeUnavailable || !errors.Is(err, rows.ErrRecord) {
			t.Errorf("%s: %v", key, err)
		}
	}
	f.update(appendAudit("usr_1"))
}

// BenchmarkKeyIndex is what the index takes, and how long reading it does.
func BenchmarkKeyIndex(b *testing.B) {
	const keys = 1_000_000
	f := newFixture(b, Options{NoSync: true})
	f.useKeys(keys)
	f.close()
	var took time.Duration
	var size uint64
	for b.Loop() {
		f.open(Options{NoSync: true})
		start := time.Now()
		must(b, f.awaitKeys(bg))
		took += time.Since(start)
		size = heap()
		f.keys.partitions = nil
		size -= heap()
		f.close()
	}
	b.ReportMetric(float64(size)/keys, "B/key")
	b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms/read")
}
