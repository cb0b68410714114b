package server

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"time"

	"teamdata/internal/ratelimit"
	"teamdata/server/cork"
)

// turns bound how many handshakes are computed at once. Otherwise a crowd that connects all
// at once would keep every processor from requests for a second. Each client has only so many
// turns, so that one which is not in the crowd doesn't wait behind it.
type turns struct {
	ofClient places
	all      chan struct{}
}

// turnTakes is the most that a turn takes. It computes for about a millisecond, but may wait
// for the store where it is about an authority's challenge.
const turnTakes = 100 * time.Millisecond

func newTurns() turns {
	processors := runtime.GOMAXPROCS(0)
	return turns{newPlaces(processors), make(chan struct{}, processors)}
}

// take waits for a turn of a client, until ctx ends.
func (t *turns) take(ctx context.Context, client netip.Prefix) (end func(), ok bool) {
	leave, ok := t.ofClient.take(ctx, client)
	if !ok {
		return nil, false
	}
	select {
	case t.all <- struct{}{}:
	case <-ctx.Done():
		leave()
		return nil, false
	}
	once := sync.OnceFunc(func() {
		<-t.all
		leave()
	})
	timer := time.AfterFunc(turnTakes, once)
	return func() {
		timer.Stop()
		once()
	}, true
}

// errUnheard ends the handshake of a client that became one while it waited for its turn that
// is not heard.
var errUnheard = errors.New("the client is not heard")

// shakingConn is the connection beneath TLS. During its handshake it has a turn from each
// read to the next one, but not while it waits for its client.
type shakingConn struct {
	net.Conn
	begin func() (end func(), err error) // nil: the handshake is over
	end   func()                         // of its turn; nil: it has none
}

func newShakingConn(ctx context.Context, raw net.Conn) *shakingConn {
	c, _ := cork.Beneath[*countedConn](raw) // as each connection that is accepted
	return &shakingConn{Conn: raw, begin: func() (func(), error) {
		client := ratelimit.ClientKey(addrOf(raw.RemoteAddr())) // after a read, since it may wait for a proxy's header
		end, ok := c.limiter.turns.take(ctx, client)
		if !ok {
			return nil, ctx.Err()
		}
		if !c.limiter.hears(client) {
			end()
			return nil, errUnheard
		}
		return end, nil
	}}
}

// Read reads, and begins the next turn of a handshake.
func (c *shakingConn) Read(p []byte) (n int, err error) {
	if c.begin == nil {
		return c.Conn.Read(p)
	}
	c.endTurn()
	if n, err = c.Conn.Read(p); err == nil {
		c.end, err = c.begin()
	}
	return n, err
}

func (c *shakingConn) endTurn() {
	if c.end != nil {
		c.end()
		c.end = nil
	}
}

// shaken ends the last turn of a handshake.
func (c *shakingConn) shaken() {
	c.endTurn()
	c.begin = nil
}

// NetConn returns the connection beneath.
func (c *shakingConn) NetConn() net.Conn { return c.Conn }
