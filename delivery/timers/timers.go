// Package timers is a heap of due times that belong to ids, and holds nothing else.
//
// It reads no clock and starts no goroutine: its owner passes the time, sleeps until
// [Heap.Next], and then calls [Heap.Expire]. So a heap with a million entries costs one
// timer, not a million.
//
// It imports no other package of teamdata. What an id means, and what to do when it is due,
// is up to the owner.
package timers

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
	"time"
)

// shrinkFloor is the number of entries below which what a burst has left isn't worth copying.
const shrinkFloor = 1024

// Heap keeps one due time per id. Create it with [New]. It is not safe for concurrent use.
type Heap[K comparable] struct {
	entries map[K]*entry[K]
	order   order[K]
	sets    uint64 // how often a due time was set
}

// entry is one id. Times are of the wall clock, which is what is compared.
type entry[K comparable] struct {
	id    K
	due   time.Time
	set   uint64 // orders those that are due at the same time
	place int    // in the heap
}

// New returns an empty heap.
func New[K comparable]() *Heap[K] { return &Heap[K]{entries: make(map[K]*entry[K])} }

// Len returns the number of entries.
func (h *Heap[K]) Len() int { return len(h.entries) }

// Set makes id due at due, and replaces the due time that it had. A due in the past is
// handed out by the next Expire.
func (h *Heap[K]) Set(id K, due time.Time) {
	e, ok := h.entries[id]
	if !ok {
		e = &entry[K]{id: id}
		h.entries[id] = e
	}
	h.sets++
	e.due, e.set = due.Round(0), h.sets
	if ok {
		heap.Fix(&h.order, e.place)
	} else {
		heap.Push(&h.order, e)
	}
}

// SetEarlier is Set, unless id is already due at that time or before.
func (h *Heap[K]) SetEarlier(id K, due time.Time) {
	if e, ok := h.entries[id]; !ok || due.Round(0).Before(e.due) {
		h.Set(id, due)
	}
}

// Remove removes id if present.
func (h *Heap[K]) Remove(id K) {
	if e, ok := h.entries[id]; ok {
		heap.Remove(&h.order, e.place)
		delete(h.entries, id)
		h.shrink()
	}
}

// shrink frees the memory of a burst: maps never shrink. Copying what is at most an eighth
// full costs less than the removals that emptied it.
func (h *Heap[K]) shrink() {
	if cap(h.order) < shrinkFloor || len(h.order) > cap(h.order)/8 {
		return
	}
	small := make(map[K]*entry[K], len(h.entries))
	maps.Copy(small, h.entries)
	h.entries, h.order = small, slices.Clone(h.order)
}

// Next returns the earliest due time, and false if the heap is empty. It may be in the past.
func (h *Heap[K]) Next() (time.Time, bool) {
	if len(h.order) == 0 {
		return time.Time{}, false
	}
	return h.order[0].due, true
}

// Expire removes every entry that is due at now, and returns their ids: by due, those due at
// the same time in the order in which they were set. now may be before that of an earlier
// call, after the clock was set back.
func (h *Heap[K]) Expire(now time.Time) (ids []K) {
	for now = now.Round(0); len(h.order) > 0 && !h.order[0].due.After(now); {
		e := h.order[0]
		h.Remove(e.id)
		ids = append(ids, e.id)
	}
	return ids
}

// order is for container/heap.
type order[K comparable] []*entry[K]

func (o order[K]) Len() int { return len(o) }

func (o order[K]) Less(i, j int) bool {
	return cmp.Or(o[i].due.Compare(o[j].due), cmp.Compare(o[i].set, o[j].set)) < 0
}

func (o order[K]) Swap(i, j int) {
	o[i], o[j] = o[j], o[i]
	o[i].place, o[j].place = i, j
}

func (o *order[K]) Push(e any) {
	e.(*entry[K]).place = len(*o)
	*o = append(*o, e.(*entry[K]))
}

func (o *order[K]) Pop() any {
	last := len(*o) - 1
	e := (*o)[last]
	(*o)[last] = nil
	*o = (*o)[:last]
	return e
}
