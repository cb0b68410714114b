// Package wheel is a hierarchical timer wheel that holds ids and nothing else.
//
// It reads no clock and starts no goroutine: its owner passes the time, sleeps until
// [Wheel.Next], and then calls [Wheel.Expire]. So a wheel with a million entries
// costs one timer, not a million.
//
// The resolution is one millisecond. Dues are rounded up and the time given to
// Expire is rounded down, so that an entry is never handed out early and less
// than a millisecond late. Times more than 292 million years from 1970 count
// as that far away.
//
// It imports no other package of teamdata. The owner decides what an id means and
// what to do when it is due; wheel.go is the interface, slots.go the data
// structure.
package wheel

import (
	"maps"
	"math"
	"time"
)

// shrinkFloor is the number of entries below which a map that a burst has left isn't
// worth copying.
const shrinkFloor = 1024

// Wheel keeps one due time per id. Create it with [New]. It is not safe for
// concurrent use.
type Wheel[K comparable] struct {
	entries map[K]*entry[K]
	peak    int // most entries since the map was made; maps never shrink
	slots   slots[K]
}

// New returns an empty wheel set to start. Any start is correct; one near the
// present saves work.
func New[K comparable](start time.Time) *Wheel[K] {
	w := &Wheel[K]{entries: make(map[K]*entry[K])}
	w.slots.now = floorTick(start)
	return w
}

// Len returns the number of entries.
func (w *Wheel[K]) Len() int { return len(w.entries) }

// Set makes id due at due, and replaces the due time that it had. A due in the past is
// handed out by the next Expire.
func (w *Wheel[K]) Set(id K, due time.Time) {
	w.set(id, ceilTick(due))
}

// SetEarlier is Set, unless id is already due at that millisecond or before.
func (w *Wheel[K]) SetEarlier(id K, due time.Time) {
	tick := ceilTick(due)
	if e, ok := w.entries[id]; ok && e.tick <= tick {
		return
	}
	w.set(id, tick)
}

func (w *Wheel[K]) set(id K, tick uint64) {
	e, ok := w.entries[id]
	if ok {
		w.slots.unlink(e)
	} else {
		e = &entry[K]{id: id}
		w.entries[id] = e
		w.peak = max(w.peak, len(w.entries))
	}
	e.tick = tick
	w.slots.link(e)
}

// Remove removes id if present.
func (w *Wheel[K]) Remove(id K) {
	if e, ok := w.entries[id]; ok {
		w.remove(e)
	}
}

func (w *Wheel[K]) remove(e *entry[K]) {
	w.slots.unlink(e)
	delete(w.entries, e.id)
	w.shrink()
}

// shrink frees the memory of a burst. Copying a map that is at most an eighth full
// costs less than the removals that emptied it.
func (w *Wheel[K]) shrink() {
	if w.peak < shrinkFloor || len(w.entries) > w.peak/8 {
		return
	}
	small := make(map[K]*entry[K], len(w.entries))
	maps.Copy(small, w.entries)
	w.entries, w.peak = small, len(small)
}

// Next returns when to call Expire next, and false if the wheel is empty. It is
// never later than the earliest due, and may be earlier for a distant due: that
// Expire hands out nothing and the following Next is later, at most ten times for
// one due. It may be in the past.
func (w *Wheel[K]) Next() (time.Time, bool) {
	if len(w.entries) == 0 {
		return time.Time{}, false
	}
	if !w.slots.due().empty() {
		return tickTime(w.slots.dueSince), true
	}
	_, start, _ := w.slots.first()
	return tickTime(start), true
}

// Expire removes every entry that is due at now and calls fn with its id: by
// due, those due in the same millisecond in the order in which they were set.
// The cost depends on the entries moved and not on the time that has passed.
//
// fn may call any method of the wheel. An id that it sets to now or earlier waits for
// the next Expire, so fn can't keep one call going for ever. now may be before that of an
// earlier call, after the clock was set back.
func (w *Wheel[K]) Expire(now time.Time, fn func(id K)) {
	w.slots.move(floorTick(now))
	w.slots.sortDue()
	due := w.slots.due()
	for n := due.len(); n > 0 && !due.empty(); n-- {
		e := due.head
		w.remove(e)
		fn(e.id)
	}
}

const (
	// signBit makes signed milliseconds since 1970 sort as unsigned ticks.
	signBit = 1 << 63
	// farthest is the last second, either side of 1970, whose milliseconds
	// (and one more, from rounding up) fit in 64 bits.
	farthest = math.MaxInt64/1000 - 1
)

// floorTick is the last whole millisecond at or before t.
func floorTick(t time.Time) uint64 {
	return uint64(clamp(t).UnixMilli()) ^ signBit
}

// ceilTick is the first whole millisecond at or after t.
func ceilTick(t time.Time) uint64 {
	return floorTick(clamp(t).Add(time.Millisecond - 1))
}

func clamp(t time.Time) time.Time {
	switch sec := t.Unix(); {
	case sec > farthest:
		return time.Unix(farthest, 0)
	case sec < -farthest:
		return time.Unix(-farthest, 0)
	}
	return t
}

func tickTime(tick uint64) time.Time {
	return time.UnixMilli(int64(tick ^ signBit))
}
