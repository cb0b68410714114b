package server

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/pires/go-proxyproto"
	"github.com/rs/zerolog"

	"teamdata/internal/ratelimit"
	"teamdata/server/clientaddr"
	"teamdata/server/cork"
)

// connLimiter counts connections and refuses those beyond the limit before they
// cost a handshake or a goroutine. All listeners of a server share one.
type connLimiter struct {
	what      string // what it counts, such as connections
	proxies   clientaddr.Proxies
	max       int // connections in all; 0: no limit
	perClient int // connections of one client that is no proxy; 0: no limit
	log       zerolog.Logger
	full      func() bool  // nil: never
	streams   *connLimiter // who may have no more of them gets no connection over TLS either; nil: there are none
	newcomers newcomers
	turns     turns

	mu       sync.Mutex
	open     int
	closed   chan struct{}        // closed when none is open any more; nil: nobody waits for that
	clients  map[netip.Prefix]int // counted connections by client; never 0
	refused  int                  // since loggedAt
	loggedAt time.Time
}

func newConnLimiter(c Config) *connLimiter {
	return &connLimiter{
		what: "connections", proxies: c.Proxies, log: c.Log,
		max: c.MaxConns, perClient: c.MaxClientConns, full: c.Full, clients: map[netip.Prefix]int{},
		newcomers: newNewcomers(), turns: newTurns(),
	}
}

// acquire counts a connection of a peer, if there is room for it.
func (l *connLimiter) acquire(peer netip.Addr) (release func(), ok bool) {
	client := ratelimit.ClientKey(peer)
	trusted := l.proxies.Trust(peer)
	counts := l.perClient > 0 && !trusted
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.full != nil && l.full():
		l.logRefusal("--memory-limit is nearly reached")
		return nil, false
	case l.max > 0 && l.open >= l.max:
		l.logRefusal("--max-conns are open")
		return nil, false
	case counts && l.clients[client] >= l.perClient:
		l.logRefusal("the client has --max-conns-per-client open")
		return nil, false
	}
	l.open++
	if counts {
		l.clients[client]++
	}
	return sync.OnceFunc(func() { l.release(client, counts) }), true
}

// has reports whether a client has as many as it may have.
func (l *connLimiter) has(client netip.Prefix) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.perClient > 0 && l.clients[client] >= l.perClient
}

func (l *connLimiter) release(client netip.Prefix, counts bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open--; l.open == 0 && l.closed != nil {
		close(l.closed)
		l.closed = nil
	}
	if !counts {
		return
	}
	if l.clients[client]--; l.clients[client] == 0 {
		delete(l.clients, client)
	}
}

// allClosed returns a channel that is closed once no connection is open; nil if none is.
func (l *connLimiter) allClosed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open > 0 && l.closed == nil {
		l.closed = make(chan struct{})
	}
	return l.closed
}

func (l *connLimiter) refuse(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.logRefusal(why)
}

// logRefusal logs refusals at most once a minute, so a flood can't fill the log.
func (l *connLimiter) logRefusal(why string) {
	l.refused++
	if now := time.Now(); now.Sub(l.loggedAt) >= time.Minute {
		l.log.Warn().Int("refused", l.refused).Int("open", l.open).Str("why", why).Msg(l.what + " are refused")
		l.refused, l.loggedAt = 0, now
	}
}

// count returns the counted connection, or nil if it is refused. It reads
// nothing, so no peer can delay the others.
func (l *connLimiter) count(c net.Conn, proxyProtocol bool) net.Conn {
	peer := addrOf(c.RemoteAddr())
	if proxyProtocol && !l.proxies.Trust(peer) {
		l.refuse("with --proxy-protocol only --trusted-proxies are accepted")
		return nil
	}
	release, ok := l.acquire(peer)
	if !ok {
		return nil
	}
	counted := &countedConn{Conn: c, limiter: l, release: release}
	if proxyProtocol {
		return throughProxy(counted)
	}
	return counted
}

// limitedListener is a listener behind a connLimiter.
type limitedListener struct {
	net.Listener
	limiter       *connLimiter
	proxyProtocol bool // connections come only from proxies, and begin with its header
}

// Accept waits for the next connection that is not refused.
func (l limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if counted := l.limiter.count(c, l.proxyProtocol); counted != nil {
			return counted, nil
		}
		drop(c)
	}
}

// idleTimeout is how long a connection may wait for its next request. It is not net/http's:
// that begins to wait when an HTTP/2 connection ends with open requests, and keeps all of it
// in memory meanwhile.
const idleTimeout = 2 * time.Minute

// changed is called when a connection begins to wait for a request, or ends to.
func (s *Server) changed(c net.Conn, state http.ConnState) {
	timer, known := s.idle.Load(c)
	switch {
	case state == http.StateIdle && known:
		timer.(*time.Timer).Reset(idleTimeout)
	case state == http.StateIdle:
		s.idle.Store(c, time.AfterFunc(idleTimeout, func() { c.Close() }))
	case known:
		timer.(*time.Timer).Stop()
	}
	if state == http.StateClosed || state == http.StateHijacked {
		s.idle.Delete(c)
	}
	if h, ok := c.(handling); ok && state == http.StateIdle {
		h.isHandled().Store(false) // the next request is yet to come
	}
}

// addrOf returns the address of a peer; the zero Addr if it is not an IP address.
func addrOf(peer net.Addr) netip.Addr {
	if tcp, ok := peer.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr()
	}
	return netip.Addr{}
}

// drop closes a connection with a reset, which leaves no TIME_WAIT state behind.
func drop(c net.Conn) {
	if tcp, ok := cork.Beneath[*net.TCPConn](c); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}

// countedConn is a connection counted until it is closed.
type countedConn struct {
	net.Conn
	limiter *connLimiter
	release func()
	settled func() // see newcomers; nil: it is not one of them
}

// Close closes the connection and stops counting it.
func (c *countedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// NetConn returns the connection beneath.
func (c *countedConn) NetConn() net.Conn { return c.Conn }

// CloseWrite shuts down the writing side; see [net.TCPConn.CloseWrite].
func (c *countedConn) CloseWrite() error { return cork.CloseWrite(c.Conn) }

// proxyHeaderTimeout is how long a proxy may take for the header of the PROXY
// protocol, which it sends as soon as it has connected.
const proxyHeaderTimeout = 5 * time.Second

var errNotInternet = errors.New("the PROXY header has no TCP address")

// throughProxy returns a connection that begins with a PROXY protocol header,
// version 1 or 2, and whose remote address is the one in it. Without the header,
// reads fail. A proxy's own connection, such as a health check, says LOCAL and
// has the proxy's address.
func throughProxy(c net.Conn) net.Conn {
	return proxied{proxyproto.NewConn(c,
		proxyproto.WithPolicy(proxyproto.REQUIRE),
		proxyproto.SetReadHeaderTimeout(proxyHeaderTimeout),
		proxyproto.ValidateHeader(overTCP))}
}

// overTCP rejects addresses of other networks: a Unix socket would be taken for a
// local proxy.
func overTCP(h *proxyproto.Header) error {
	_, isTCP := h.SourceAddr.(*net.TCPAddr)
	if isTCP || h.Command.IsLocal() {
		return nil
	}
	return errNotInternet
}

type proxied struct{ *proxyproto.Conn }

// NetConn returns the connection beneath.
func (p proxied) NetConn() net.Conn { return p.Raw() }
