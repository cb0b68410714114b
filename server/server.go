// Package server is the Team Data API over HTTPS, and the listener that the admin
// API and the settings page are mounted on.
//
// A request begins in ServeHTTP and goes from top to bottom through request.go:
// the checks in their order, then the handler of its route (routes.go), then its
// answer, in the version that the client pinned (version.go). The part of that which
// the three APIs share is in wire/web.
//
// The package imports wire, store, internal and its own folders, and knows the data only
// through [store.Store]. A new operation is a row in routes.go, a handler in
// handlers.go and its description in wire/openapi/openapi.yaml, which also makes it a
// tool of assistants (mcp.go); a new refusal of a request is a check in request.go; a
// new refusal of a connection is in connections.go.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"teamdata/internal/ratelimit"
	"teamdata/server/clientaddr"
	"teamdata/server/cork"
	"teamdata/store"
	"teamdata/wire/openapi"
	"teamdata/wire/reference"
	"teamdata/wire/web"
)

// Config has a usable zero value: no rate limits and no log.
type Config struct {
	KeyRate    int              // requests per minute per key; 0: no limit
	PullRate   int              // the same of those that pull, beside KeyRate; 0: no limit
	ClientRate int              // requests per minute per client address; 0: no limit
	Log        zerolog.Logger   // faults of the server at error level, those of connections at debug level
	Now        func() time.Time // the clock of limits and of a key's expiry; nil: time.Now
	TestClock  bool             // tests move Now; each answer says so
	Mounts     []Mount          // the other APIs and pages on the same listener
	// StrictTransport reports whether browsers are to ask the host of this name over
	// HTTPS only; nil: none.
	StrictTransport func(host string) bool
	Home            string // where a browser that requests / is redirected; empty: 404
	Address         string // of the server in the reference page, such as https://data.example.com; empty: the host that a client asked for

	Proxies        clientaddr.Proxies // trusted to give the client's address
	ProxyProtocol  bool               // connections come only from Proxies, and begin with a PROXY protocol header
	MaxConns       int                // connections at once, and requests on HTTP/2; 0: no limit
	Full           func() bool        // whether there is no memory for another connection; nil: there is
	MaxClientConns int                // the same per client address outside Proxies; 0: no limit

	RetrySchedule []time.Duration // of deliveries that consumers give back; nil: store.DefaultRetrySchedule

	versions  []version                               // nil: those that are published
	documents func(string) (reference.Document, bool) // nil: those of the published versions
}

// The command line's default limits.
const (
	DefaultKeyRate    = 100
	DefaultPullRate   = 6000
	DefaultClientRate = 600

	DefaultMaxConns       = 10_000
	DefaultMaxClientConns = 256 // room for an office behind one address; 39 such clients don't fill the server
)

// maxStreams is how many requests an HTTP/2 connection may have open at once, and
// so how many handlers it can keep busy: few, since net/http has one figure for those with a
// key and without. It cuts off a client that keeps opening and resetting more.
const maxStreams = 32

// maxHeaderBytes is the maximum size of a request's line and headers.
const maxHeaderBytes = 64 << 10

// Server answers the Team Data API from a store. Create it with New.
type Server struct {
	store        store.Store
	config       Config // with its defaults, and the reference page among the mounts
	router       *web.Router
	mcpRouter    *web.Router
	pullRouter   *web.Router
	tools        []func() ([]tool, error) // of each of config.versions
	http         http.Server
	listeners    listeners
	connections  *connLimiter
	streams      *connLimiter // requests on HTTP/2
	idle         sync.Map     // timers of connections that wait for a request, by net.Conn
	keys         accessCache
	keyUse       keyUse
	keyLimit     keyLimit
	pullLimit    keyLimit
	pulls        pullWaiters
	clientLimit  *ratelimit.Limiter[netip.Prefix]
	idempotency  store.Idempotency
	descriptions descriptions
	stopping     atomic.Bool
	observer     Observer
	sampled      atomic.Uint64 // requests that could have been logged
	drainDelay   time.Duration // how long Shutdown answers new requests with 503
}

// New returns a server on a store, which the caller closes.
func New(s store.Store, c Config) *Server {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.RetrySchedule == nil {
		c.RetrySchedule = store.DefaultRetrySchedule
	}
	if c.versions == nil {
		c.versions = published
	}
	if c.documents == nil {
		c.documents = openapi.Of
	}
	srv := &Server{
		store: s, config: c, connections: newConnLimiter(c), streams: newConnLimiter(c),
		keyLimit:    newKeyLimit(s, "API key", "key", c.KeyRate),
		pullLimit:   newKeyLimit(s, "pull", "pull", c.PullRate),
		pulls:       newPullWaiters(c.Now),
		clientLimit: ratelimit.New[netip.Prefix](c.ClientRate, limitWindow, maxTrackedClients),
		drainDelay:  200 * time.Millisecond,
	}
	s.OnAccess(srv.pulls.touch)
	srv.streams.what, srv.streams.full = "requests on HTTP/2", nil
	srv.connections.streams = srv.streams
	srv.config.Mounts = append(slices.Clip(c.Mounts), docsMounts(srv)...)
	srv.router = web.NewRouter(basePath, "/members", routes, (*route).pattern, srv.serve)
	srv.mcpRouter = web.NewRouter("", mcpRoute.path, []route{mcpRoute}, (*route).pattern, srv.serveMCP)
	srv.pullRouter = web.NewRouter(pullPath, "/whe_1", pullRoutes, (*route).pattern, srv.servePull)
	srv.tools = srv.toolsOfVersions()
	srv.http = http.Server{
		Handler:           srv,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       -1, // see idleTimeout
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams, WriteByteTimeout: 10 * time.Second},
		ConnContext:       rememberConn,
		ConnState:         srv.changed,
		ErrorLog:          log.New(connectionLog{c.Log}, "", 0),
		// OPTIONS * is answered like any other unknown route.
		DisableGeneralOptionsHandler: true,
	}
	return srv
}

// Limit applies the server's connection limits to a listener that something else
// serves.
func (s *Server) Limit(l net.Listener) net.Listener { return limitedListener{l, s.connections, false} }

// Serve serves connections of l, over TLS unless tlsConfig is nil, and returns nil
// after Shutdown. It may be called for several listeners.
func (s *Server) Serve(l net.Listener, tlsConfig *tls.Config) error {
	accepted := cork.Listener(limitedListener{l, s.connections, s.config.ProxyProtocol})
	if tlsConfig != nil {
		tlsConfig = tlsConfig.Clone()
		tlsConfig.NextProtos = append([]string{"h2", "http/1.1"}, tlsConfig.NextProtos...)
		shaking := newTLSListener(accepted, tlsConfig, s.config.versions[0].date, &s.http)
		s.listeners.add(l, shaking.run)
		accepted = shaking
	} else {
		s.listeners.add(l, func() {}) // net/http accepts them itself
		accepted = http1Listener{accepted, s.config.versions[0].date}
	}
	err := s.http.Serve(accepted)
	if errors.Is(err, http.ErrServerClosed) || s.stopping.Load() && errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Shutdown stops the server. New requests are answered with 503 `unavailable`, and
// their connections are closed. After half the drain delay new connections are refused;
// handshakes under way may take [lastHandshakes]. Requests that wait for deliveries are
// answered at once, with none. After another whole delay, or once no
// connection is open, idle ones are closed too. Then Shutdown waits for running requests
// until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopping.Store(true)
	s.pulls.stop()
	// Once it stops, net/http drops new requests without an answer. Busy clients
	// get one first, and then those who have just connected.
	s.drain(ctx, s.drainDelay/2)
	s.listeners.close()
	s.drain(ctx, s.drainDelay)
	if err := s.http.Shutdown(ctx); !errors.Is(err, net.ErrClosed) { // a listener was closed before
		return err
	}
	return nil
}

// drain waits until no connection is open, but not for longer than a time.
func (s *Server) drain(ctx context.Context, most time.Duration) {
	if closed := s.connections.allClosed(); closed != nil {
		select {
		case <-time.After(most):
		case <-closed:
		case <-ctx.Done():
		}
	}
}

// listeners are those that a server serves.
type listeners struct {
	mu        sync.Mutex
	all       []net.Listener
	closed    bool
	accepting sync.WaitGroup // what accepts connections that are yet to shake hands
}

// add adds a listener, whose connections accept accepts until it is closed. Once the
// others are closed, it is closed at once.
func (l *listeners) add(one net.Listener, accept func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		one.Close()
		return
	}
	l.all = append(l.all, one)
	l.accepting.Go(accept)
}

// close closes them. Then each connection that was accepted is counted.
func (l *listeners) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, one := range l.all {
		one.Close()
	}
	l.accepting.Wait()
}

// connectionLog logs what net/http reports of single connections, such as a failed
// handshake, at debug level: anyone can cause that.
type connectionLog struct{ log zerolog.Logger }

func (c connectionLog) Write(line []byte) (int, error) {
	c.log.Debug().Msg(strings.TrimSpace(string(line)))
	return len(line), nil
}
