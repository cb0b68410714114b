// Package ratelimit limits requests in exact sliding windows.
//
// The rule: never more than the limit of one id's requests are accepted in any window.
// A window is half-open, so a request accepted at t no longer counts at t+window.
// Refused requests don't count. When the clock is set back, the limiter's time stands
// still until the clock has caught up, so that no further request is accepted.
//
// Memory is bounded twice: an id costs as much as its requests accepted within the
// window, and the number of ids is limited. It is freed afterwards.
//
// It imports no other package of teamdata. The server decides what to limit and how to answer
// a refusal; the state of one id is in entry.go.
package ratelimit

import (
	"maps"
	"net/netip"
	"sync"
	"time"
)

const (
	// sweepMax is how many ids one Take may drop. More than one makes memory
	// shrink faster than it can grow; few keep every Take short.
	sweepMax = 16

	// shrinkFloor is the number of ids below which a map that a flood has left
	// isn't worth copying.
	shrinkFloor = 1024
)

// Decision is the result for one request. Without a limit all but OK is zero.
type Decision struct {
	OK        bool
	Limit     int // accepted in any window at most
	Remaining int // that would be accepted at this instant, 0 to Limit

	// RetryAfter is the time until the next request would be accepted: 0
	// while some remain, else the same as Reset.
	RetryAfter time.Duration

	// Reset is the time until the oldest accepted request leaves the window:
	// more than 0, at most the window.
	Reset time.Duration
}

// Limiter remembers the requests of each id that were accepted lately. Make one with
// [New]. It is safe for use by several goroutines at once.
type Limiter[K comparable] struct {
	limit      int
	window     int64
	maxTracked int

	mu     sync.Mutex
	ids    map[K]*entry[K]
	peak   int // most ids since the map was made; maps never shrink
	recent recency[K]
	base   time.Time // the first time given; all others are kept relative to it
	clock  int64     // the latest time given, in nanoseconds since base
}

// New returns a limiter that accepts limit requests of an id in any window,
// which must be positive. A limit of 0 or less means no limit.
//
// At most maxTracked ids (at least 1) are remembered. When one more arrives, the
// one accepted least recently is evicted and starts over: under a flood of ids,
// bounded memory is more important than exactness.
func New[K comparable](limit int, window time.Duration, maxTracked int) *Limiter[K] {
	l := &Limiter[K]{
		limit:      limit,
		window:     int64(window),
		maxTracked: max(1, maxTracked),
		ids:        make(map[K]*entry[K]),
	}
	l.recent.init()
	return l
}

// Enabled reports whether there is a limit.
func (l *Limiter[K]) Enabled() bool { return l.limit > 0 }

// Take accepts or refuses one request of id that arrived now.
func (l *Limiter[K]) Take(id K, now time.Time) Decision {
	if !l.Enabled() {
		return Decision{OK: true}
	}
	l.mu.Lock()
	defer l.mu.Unlock()

	t := l.advance(now)
	l.sweep(t)
	e := l.track(id)
	e.times.expire(t, l.window)
	ok := e.times.n < l.limit
	if ok {
		e.times.push(t, l.limit)
		l.recent.moveToFront(e)
	}
	return l.decide(ok, e, t)
}

func (l *Limiter[K]) decide(ok bool, e *entry[K], t int64) Decision {
	d := Decision{
		OK:        ok,
		Limit:     l.limit,
		Remaining: l.limit - e.times.n,
		Reset:     time.Duration(l.window - (t - e.times.oldest())),
	}
	if d.Remaining == 0 {
		d.RetryAfter = d.Reset
	}
	return d
}

// advance returns now on the limiter's own clock, which never goes back.
func (l *Limiter[K]) advance(now time.Time) int64 {
	if l.base.IsZero() {
		l.base = now
	}
	l.clock = max(l.clock, int64(now.Sub(l.base)))
	return l.clock
}

// track returns the entry of id, a new one if it is not known. The first request of a
// new entry is always accepted, so no entry stays empty.
func (l *Limiter[K]) track(id K) *entry[K] {
	if e, ok := l.ids[id]; ok {
		return e
	}
	if len(l.ids) == l.maxTracked {
		l.evict(l.recent.last())
	}
	e := &entry[K]{id: id}
	e.prev, e.next = e, e // in no list
	l.ids[id] = e
	l.peak = max(l.peak, len(l.ids))
	return e
}

// sweep evicts ids without a request in the window. They are the last ones of the
// list, so when the last id has one, all have.
func (l *Limiter[K]) sweep(t int64) {
	for range sweepMax {
		e := l.recent.last()
		if e == nil || t-e.times.newest() < l.window {
			return
		}
		l.evict(e)
	}
}

// evict removes e, and copies a map that is at most an eighth full: that costs less
// than the removals that emptied it.
func (l *Limiter[K]) evict(e *entry[K]) {
	l.recent.unlink(e)
	delete(l.ids, e.id)
	if l.peak < shrinkFloor || len(l.ids) > l.peak/8 {
		return
	}
	small := make(map[K]*entry[K], len(l.ids))
	maps.Copy(small, l.ids)
	l.ids, l.peak = small, len(small)
}

// ClientKey returns the range that counts as one client: the IPv4 address, or the /64
// of the IPv6 address, since a single subscriber has at least that and can use any
// address in it. IPv4 inside IPv6 counts as IPv4, and zones are ignored. An invalid
// address gives the zero prefix.
func ClientKey(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	key, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return key
}

// Seconds returns d in whole seconds, rounded up, as Retry-After has it: at
// least 1 for a positive d, 0 for any other.
func Seconds(d time.Duration) int {
	if d <= 0 {
		return 0
	}
	return int((d-1)/time.Second) + 1
}
