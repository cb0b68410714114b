package server

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"teamdata/internal/ratelimit"
	"teamdata/server/clientaddr"
)

// gate lets connections in, as many as the server may hold, and refuses the
// others before they have cost a handshake or a goroutine. A server with several
// listeners has one gate.
type gate struct {
	proxies       clientaddr.Proxies
	proxyProtocol bool // proxies alone are let in, and begin with its header
	max           int  // connections in all; 0: no limit
	each          int  // connections of one client that is no proxy; 0: no limit
	log           zerolog.Logger

	mu      sync.Mutex
	open    int
	clients map[netip.Prefix]int // those that count, by client; none is 0
	refused int                  // since the log was told
	told    time.Time            // when that was
}

func newGate(c Config) *gate {
	return &gate{
		proxies: c.Proxies, proxyProtocol: c.ProxyProtocol, log: c.Log,
		max: c.MaxConns, each: c.MaxClientConns, clients: map[netip.Prefix]int{},
	}
}

// enter counts a connection in, if there is room for it.
func (g *gate) enter(peer netip.Addr) (leave func(), ok bool) {
	client := ratelimit.ClientKey(peer)
	trusted := g.proxies.Trust(peer)
	counts := g.each > 0 && !trusted
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.proxyProtocol && !trusted:
		g.refuse("with --proxy-protocol only --trusted-proxies are let in")
		return nil, false
	case g.max > 0 && g.open >= g.max:
		g.refuse("--max-conns are open")
		return nil, false
	case counts && g.clients[client] >= g.each:
		g.refuse("the client has --max-conns-per-client open")
		return nil, false
	}
	g.open++
	if counts {
		g.clients[client]++
	}
	return sync.OnceFunc(func() { g.leave(client, counts) }), true
}

func (g *gate) leave(client netip.Prefix, counts bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open--
	if !counts {
		return
	}
	if g.clients[client]--; g.clients[client] == 0 {
		delete(g.clients, client)
	}
}

// refuse tells the log of refusals, at most once a minute: it is no place for a
// flood.
func (g *gate) refuse(why string) {
	g.refused++
	if now := time.Now(); now.Sub(g.told) >= time.Minute {
		g.log.Warn().Int("refused", g.refused).Int("open", g.open).Str("why", why).Msg("connections are refused")
		g.refused, g.told = 0, now
	}
}

// admit returns the connection as the server is to see it; nil when it isn't let
// in. It reads nothing, so that no peer holds up the others.
func (g *gate) admit(c net.Conn) net.Conn {
	leave, ok := g.enter(addrOf(c.RemoteAddr()))
	if !ok {
		return nil
	}
	in := &visit{Conn: c, leave: leave}
	if g.proxyProtocol {
		return throughProxy(in)
	}
	return in
}

// gated is a listener behind a gate.
type gated struct {
	net.Listener
	gate *gate
}

// Accept waits for the next connection that is let in.
func (l gated) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if in := l.gate.admit(c); in != nil {
			return in, nil
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

// visit is a connection that was counted in.
type visit struct {
	net.Conn
	leave func()
}

// Close closes the connection, and counts it out.
func (v *visit) Close() error {
	defer v.leave()
	return v.Conn.Close()
}

// CloseWrite ends what is sent; see [net.TCPConn.CloseWrite].
func (v *visit) CloseWrite() error { return closeWrite(v.Conn) }
