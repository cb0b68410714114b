package server

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/pires/go-proxyproto"
	"github.com/rs/zerolog"

	"teamdata/internal/ratelimit"
	"teamdata/server/clientaddr"
)

// connLimiter counts connections, accepts as many as the server may hold, and
// refuses the others before they have cost a handshake or a goroutine. A server
// with several listeners has one.
type connLimiter struct {
	what      string // connections, or what else it counts in their stead
	proxies   clientaddr.Proxies
	max       int // connections in all; 0: no limit
	perClient int // connections of one client that is no proxy; 0: no limit
	log       zerolog.Logger

	mu       sync.Mutex
	open     int
	clients  map[netip.Prefix]int // those that count, by client; none is 0
	refused  int                  // since loggedAt
	loggedAt time.Time
}

func newConnLimiter(c Config) *connLimiter {
	return &connLimiter{
		what: "connections", proxies: c.Proxies, log: c.Log,
		max: c.MaxConns, perClient: c.MaxClientConns, clients: map[netip.Prefix]int{},
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

func (l *connLimiter) release(client netip.Prefix, counts bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if !counts {
		return
	}
	if l.clients[client]--; l.clients[client] == 0 {
		delete(l.clients, client)
	}
}

// any reports whether a connection is open.
func (l *connLimiter) any() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open > 0
}

func (l *connLimiter) refuse(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.logRefusal(why)
}

// logRefusal logs refusals, at most once a minute: a flood is not to fill the log.
func (l *connLimiter) logRefusal(why string) {
	l.refused++
	if now := time.Now(); now.Sub(l.loggedAt) >= time.Minute {
		l.log.Warn().Int("refused", l.refused).Int("open", l.open).Str("why", why).Msg(l.what + " are refused")
		l.refused, l.loggedAt = 0, now
	}
}

// count returns the connection as the server is to see it; nil when it is refused.
// It reads nothing, so that no peer holds up the others.
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
	counted := &countedConn{Conn: c, release: release}
	if proxyProtocol {
		return throughProxy(counted)
	}
	return counted
}

// limitedListener is a listener behind a connLimiter.
type limitedListener struct {
	net.Listener
	limiter       *connLimiter
	proxyProtocol bool // connections come from proxies alone, and begin with its header
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

// addrOf is the address of a peer; the zero Addr if it is not of the internet.
func addrOf(peer net.Addr) netip.Addr {
	if tcp, ok := peer.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr()
	}
	return netip.Addr{}
}

// drop closes a connection with a reset: nothing of it stays with the system,
// as the state of an orderly end would for a minute.
func drop(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}

// countedConn is a connection that counts until it is closed.
type countedConn struct {
	net.Conn
	release func()
}

// Close closes the connection, and counts it no more.
func (c *countedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// CloseWrite ends what is sent; see [net.TCPConn.CloseWrite].
func (c *countedConn) CloseWrite() error { return closeWrite(c.Conn) }

// proxyHeaderTimeout is how long a proxy may take for the header of the PROXY
// protocol, which it sends as soon as it has connected.
const proxyHeaderTimeout = 5 * time.Second

var errNotInternet = errors.New("the PROXY header's address is not of TCP over IP")

// throughProxy is a connection that begins with a header of the PROXY protocol,
// version 1 or 2, and comes from the address in it. Without the header nothing can
// be read. A proxy's own connection, a health check, has LOCAL there, and comes from
// the proxy.
func throughProxy(c net.Conn) net.Conn {
	return proxied{proxyproto.NewConn(c,
		proxyproto.WithPolicy(proxyproto.REQUIRE),
		proxyproto.SetReadHeaderTimeout(proxyHeaderTimeout),
		proxyproto.ValidateHeader(overTCP))}
}

// overTCP refuses addresses of other networks: a Unix socket would be taken for a
// proxy on this machine.
func overTCP(h *proxyproto.Header) error {
	_, isTCP := h.SourceAddr.(*net.TCPAddr)
	if isTCP || h.Command.IsLocal() {
		return nil
	}
	return errNotInternet
}

type proxied struct{ *proxyproto.Conn }

// CloseWrite ends what is sent, which net/http asks for before it closes.
func (p proxied) CloseWrite() error { return closeWrite(p.Raw()) }

func closeWrite(c net.Conn) error {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}
