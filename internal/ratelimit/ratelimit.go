// Package ratelimit counts requests in exact sliding windows.
//
// The rule: of one id, never more than the limit is accepted in any window. A
// window is half-open, so what was accepted at t no longer counts at t+window.
// Refused requests don't count. A clock that goes backwards stands still until
// it has caught up, so that turning it back wins nobody a request.
//
// Memory is bounded twice: an id costs what was accepted of it within the
// window, and only so many ids are remembered. It is given back afterwards.
package ratelimit

import (
	"maps"
	"net/netip"
	"sync"
	"time"
)

const (
	// sweepMax is how many ids one Take may forget. More than one makes
	// memory fall faster than it can grow; few keeps every Take short.
	sweepMax = 16

	// shrinkFloor is the number of ids below which a map left over from a
	// flood isn't worth copying.
	shrinkFloor = 1024
)

// Decision is the answer to one request. With the limiter off, all but OK is
// zero.
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

// Limiter holds what was accepted lately of each id. Make one with [New]. It
// is safe for use by several goroutines at once.
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
// At most maxTracked ids (at least 1) are remembered. When one more comes, the
// one accepted least recently is forgotten and starts anew: under a flood of
// ids, the bound on memory goes before the exactness for those.
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

// Enabled tells whether there is a limit.
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

// track returns the entry of id. An id seen for the first time, or again after
// it was forgotten, is always accepted, so no entry is made for nothing.
func (l *Limiter[K]) track(id K) *entry[K] {
	if e, ok := l.ids[id]; ok {
		return e
	}
	if len(l.ids) == l.maxTracked {
		l.forget(l.recent.last())
	}
	e := newEntry(id)
	l.ids[id] = e
	l.peak = max(l.peak, len(l.ids))
	return e
}

// sweep forgets ids of which nothing is left in the window. They are the last
// ones of the list, so when a new id needs room and the last one is not among
// them, none is.
func (l *Limiter[K]) sweep(t int64) {
	for range sweepMax {
		e := l.recent.last()
		if e == nil || t-e.times.newest() < l.window {
			return
		}
		l.forget(e)
	}
}

// forget removes e, and copies a map that is at most an eighth full: that
// costs less than the removals that emptied it.
func (l *Limiter[K]) forget(e *entry[K]) {
	l.recent.unlink(e)
	delete(l.ids, e.id)
	if l.peak < shrinkFloor || len(l.ids) > l.peak/8 {
		return
	}
	small := make(map[K]*entry[K], len(l.ids))
	maps.Copy(small, l.ids)
	l.ids, l.peak = small, len(small)
}

// ClientKey returns what one client is counted as: its whole IPv4 address, or
// the /64 of its IPv6 address, since a single subscriber is given at least
// that much and can pick any address in it. IPv4 inside IPv6 counts as IPv4,
// and zones are left out. An invalid address gives the zero prefix.
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
