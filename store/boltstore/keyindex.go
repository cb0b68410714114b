package boltstore

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"go.etcd.io/bbolt"

	"teamdata/store/boltstore/boltfile"
	"teamdata/store/engine"
	"teamdata/store/rows"
)

// maxIndexed is the maximum number of rows in the index, which takes up to 21
// bytes of memory for each.
const maxIndexed = 4 << 20

// keyIndex finds rows of kinds with a Span by hashes of their keys. Clients choose the
// keys, and rows stored in their order would each change a page of their own.
// So they are stored at positions, in the order in which they arrive.
//
// What the index returns are candidates: another key's row may be there, or
// none. But it lacks no row that has a position, once its partition is read.
// After Open that takes a while, and doesn't delay other transactions.
type keyIndex struct {
	seed    maphash.Seed
	max     int
	added   []keySlot // by the updates of the current batch; the writer's
	closing atomic.Bool
	done    chan struct{} // closed when reading has ended
	err     error         // why it ended early; set before done is closed

	mu         sync.Mutex
	partitions []*keyPartition // by number
}

type keyPartition struct {
	kind    *rows.Kind
	number  uint64
	last    uint32            // the highest position given
	unread  uint32            // this position and lower ones are still to be read
	spilled bool              // some rows may be stored under their keys
	slots   map[uint32]uint32 // hash, or the first unused number that follows it → position
}

// keySlot is an entry of the index.
type keySlot struct {
	partition *keyPartition
	slot      uint32
}

type keyEntry struct{ hash, position uint32 }

// keyPlace is where a row may be. Position 0: under its key.
type keyPlace struct {
	partition uint64
	position  uint32
}

var errUnread = errors.New("the index of keys is still being read")

func (k *keyIndex) init(bolt *bbolt.Tx) {
	k.seed, k.max, k.done = maphash.MakeSeed(), maxIndexed, make(chan struct{})
	for _, kind := range expiringKinds {
		b := bolt.Bucket([]byte(kind.Name))
		if b == nil {
			continue
		}
		_ = b.ForEachBucket(func(name []byte) error {
			if len(name) == 8 {
				k.insert(newKeyPartition(kind, rows.ReadNumber(name), b.Bucket(name)))
			}
			return nil
		})
	}
}

func newKeyPartition(kind *rows.Kind, number uint64, b *bbolt.Bucket) *keyPartition {
	p := &keyPartition{kind: kind, number: number, slots: map[uint32]uint32{}}
	if key := lastIn(b.Cursor(), rows.Bounds{From: numberKey(0)[:4], To: numberKey(1 << 32)}); key != nil {
		p.last, _ = positionOf(key)
	}
	if last, _ := b.Cursor().Last(); last != nil {
		_, ok := positionOf(last)
		p.spilled = !ok
	}
	p.unread = p.last
	return p
}

// positionOf reads the position from where a row is. ok is false for one without a
// position: those are under their keys.
func positionOf(key []byte) (position uint32, ok bool) {
	if len(key) != 8 || binary.BigEndian.Uint64(key) > math.MaxUint32 {
		return math.MaxUint32, false
	}
	return binary.BigEndian.Uint32(key[4:]), true
}

func (k *keyIndex) hash(key []byte) uint32 { return uint32(maphash.Bytes(k.seed, key)) }

// find appends the places where a row of a kind may be, in the last partition first.
// all is false if it may be elsewhere, too.
func (k *keyIndex) find(kind *rows.Kind, hash uint32, places []keyPlace) (_ []keyPlace, all bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all = true
	for _, p := range slices.Backward(k.partitions) {
		if p.kind != kind {
			continue
		}
		for slot := hash; p.taken(slot); slot++ {
			places = append(places, keyPlace{p.number, p.slots[slot]})
		}
		if p.spilled {
			places = append(places, keyPlace{p.number, 0})
		}
		all = all && p.unread == 0
	}
	return places, all
}

// add gives a row the next position in its partition. 0: the index is full,
// and the row is to be stored under its key.
func (k *keyIndex) add(kind *rows.Kind, number uint64, b *bbolt.Bucket, hash uint32) (position uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.partition(kind, number, b)
	if k.len() >= k.max || p.last == math.MaxUint32 {
		p.spilled = true
		return 0
	}
	p.last++
	k.added = append(k.added, keySlot{p, p.put(hash, p.last)})
	return p.last
}

func (k *keyIndex) partition(kind *rows.Kind, number uint64, b *bbolt.Bucket) *keyPartition {
	for _, p := range slices.Backward(k.partitions) {
		if p.kind == kind && p.number == number {
			return p
		}
	}
	p := newKeyPartition(kind, number, b)
	p.unread = 0 // it is new, or all that it holds had expired when it was dropped
	k.insert(p)
	return p
}

func (k *keyIndex) insert(p *keyPartition) {
	i, _ := slices.BinarySearchFunc(k.partitions, p.number, func(p *keyPartition, n uint64) int { return cmp.Compare(p.number, n) })
	k.partitions = slices.Insert(k.partitions, i, p)
}

// len returns how many rows the index has, or will have once all is read, at most.
func (k *keyIndex) len() (n int) {
	for _, p := range k.partitions {
		n += len(p.slots) + int(p.unread)
	}
	return n
}

func (p *keyPartition) put(hash, position uint32) (slot uint32) {
	for slot = hash; p.taken(slot); slot++ {
	}
	p.slots[slot] = position
	return slot
}

func (p *keyPartition) taken(slot uint32) bool {
	_, taken := p.slots[slot]
	return taken
}

// end ends a batch, whose commit may have failed.
func (k *keyIndex) end(err error) {
	if err != nil {
		k.undo(0)
	}
	k.added = k.added[:0]
}

// undo takes out what the current batch has added after the first n.
func (k *keyIndex) undo(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range slices.Backward(k.added[n:]) {
		if !a.partition.taken(a.slot + 1) { // else that one might be found no more
			delete(a.partition.slots, a.slot)
		}
	}
	k.added = k.added[:n]
}

// drop forgets a partition of which nothing is left.
func (k *keyIndex) drop(kind *rows.Kind, number uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.partitions = slices.DeleteFunc(k.partitions, func(p *keyPartition) bool { return p.kind == kind && p.number == number })
}

// awaitKeys waits until the index is read.
func (s *Store) awaitKeys(ctx context.Context) error {
	select {
	case <-s.keys.done:
		return storageFault(s.keys.err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readKeys reads the given partitions into the index, latest rows first, since
// those are the ones that are asked for again.
func (s *Store) readKeys(partitions []*keyPartition) {
	defer close(s.keys.done)
	for _, p := range slices.Backward(partitions) {
		for unread := p.unread; unread > 0; {
			if s.keys.closing.Load() {
				s.keys.err = engine.ErrClosed
				return
			}
			if unread, s.keys.err = s.readMoreKeys(p, unread); s.keys.err != nil {
				return
			}
		}
	}
}

// readMoreKeys reads some of the rows with the given position or a lower one,
// in a short transaction, and returns the highest position still unread.
func (s *Store) readMoreKeys(p *keyPartition, unread uint32) (uint32, error) {
	const some = 1000
	entries := make([]keyEntry, 0, some)
	err := boltfile.GuardPages(func() error {
		return s.view(func(t *tx) (err error) {
			entries, err = t.keyEntries(p, unread, entries)
			return err
		})
	})
	s.keys.mu.Lock()
	defer s.keys.mu.Unlock()
	for _, e := range entries {
		p.put(e.hash, e.position)
	}
	switch {
	case err != nil:
	case len(entries) < some:
		p.unread = 0
	default:
		p.unread = entries[some-1].position - 1
	}
	return p.unread, err
}

// keyEntries fills entries with those of rows in a partition, from a position
// downwards.
func (t *tx) keyEntries(p *keyPartition, from uint32, entries []keyEntry) ([]keyEntry, error) {
	b := t.of(p.kind, rows.ByKey).Bucket(numberKey(p.number))
	if b == nil { // it was dropped
		return entries, nil
	}
	var own []byte
	c := b.Cursor()
	key := lastIn(c, rows.Bounds{To: numberKey(uint64(from) + 1)})
	for value := b.Get(key); key != nil && len(entries) < cap(entries); key, value = c.Prev() {
		position, ok := positionOf(key)
		var err error
		if own, err = p.kind.KeyOf(own[:0], value); err != nil || !ok {
			return entries, rows.ErrRecord
		}
		entries = append(entries, keyEntry{t.s.keys.hash(own), position})
	}
	return entries, nil
}
