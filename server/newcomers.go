package server

import (
	"context"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"teamdata/internal/ratelimit"
	"teamdata/server/cork"
)

const (
	// watchedFor is how long a client is watched after a connection of it was cut.
	watchedFor = time.Minute
	// maxNew is how many connections of a watched client may be new at once.
	maxNew = 8
	// newFor is how long a connection stays new if it takes no answer.
	newFor = time.Second
	// newTimeout is how long a connection may wait until it may be new. Those that began to
	// wait together give up one after the other, so that they don't come again all at once.
	newTimeout = 10 * time.Second
)

// newcomers bounds how many connections are new at once of a client that is watched, since it
// had more requests open than it may and read no answers. A connection is new from its
// handshake until it has taken an answer, and for a second if it takes none: others behind
// that address hardly wait for each other, and who comes again and again without taking an
// answer gets only so many handshakes a second. The rest waits, which costs less than to send
// it away: it would come again at once.
type newcomers struct {
	places  places
	mu      sync.Mutex
	watched map[netip.Prefix]time.Time // until when, by client
}

func newNewcomers() newcomers {
	return newcomers{places: newPlaces(maxNew), watched: map[netip.Prefix]time.Time{}}
}

// watch watches a client from now on.
func (n *newcomers) watch(client netip.Prefix) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if _, there := n.watched[client]; !there {
		maps.DeleteFunc(n.watched, func(_ netip.Prefix, until time.Time) bool { return now.After(until) })
	}
	n.watched[client] = now.Add(watchedFor)
}

func (n *newcomers) watches(client netip.Prefix) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Now().Before(n.watched[client])
}

// enter waits until a connection may shake hands, and reports false if it may not. One that
// is not counted for its client need not wait.
func enter(ctx context.Context, c net.Conn) bool {
	counted, ok := cork.Beneath[*countedConn](c)
	if !ok || counted.limiter.perClient <= 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, newTimeout/2+rand.N(newTimeout/2))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { c.Close() }) // ends the wait for a proxy's header
	peer := addrOf(c.RemoteAddr())
	stop()
	l := counted.limiter
	if l.proxies.Trust(peer) {
		return true
	}
	client := ratelimit.ClientKey(peer)
	if l.newcomers.watches(client) {
		leave, ok := l.newcomers.places.take(ctx, client)
		if !ok {
			l.refuse("the client has too many new connections that take no answer")
			return false
		}
		time.AfterFunc(newFor, leave)
		counted.settled = leave
	}
	return l.hears(client)
}

// hears reports false if a client has as many requests on HTTP/2 open as it may have.
func (l *connLimiter) hears(client netip.Prefix) bool {
	if l.streams != nil && l.streams.has(client) {
		l.refuse("the client has as many requests on HTTP/2 open as it may have connections")
		return false
	}
	return true
}

// settle returns what to call once a connection has taken an answer.
func settle(c net.Conn) func() {
	if counted, ok := cork.Beneath[*countedConn](c); ok && counted.settled != nil {
		return counted.settled
	}
	return func() {}
}
