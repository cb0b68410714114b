// Package server is the public face of teamdata: the Team Data API over HTTPS.
//
// A request goes from top to bottom through one function, [Server.serve]: the
// checks of checks.go in their order, then the handler of its route (routes.go),
// which returns an error or has answered. What a client sees of an error is
// decided in one place, answer.go.
//
// The package knows the data only through [store.Store].
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
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"teamdata/internal/ratelimit"
	"teamdata/internal/web"
	"teamdata/server/clientaddr"
	"teamdata/server/cork"
	"teamdata/server/openapi"
	"teamdata/store"
)

// Config is what an operator or a test may set. Its zero value serves without
// rate limits and without a log.
type Config struct {
	KeyRate    int              // requests a minute that each key may make; 0: no limit
	ClientRate int              // requests a minute that each client address may make; 0: no limit
	Log        zerolog.Logger   // faults of the server at error level, those of connections at debug level
	Now        func() time.Time // the clock of limits and of a key's expiry; nil: time.Now
	Mounts     []Mount          // the other faces on the same listener
	Home       string           // the path to which a browser is led that asks for /; empty: 404
	Address    string           // what stands before the paths in the reference page, such as https://data.example.com; empty: what a client asked for

	Proxies        clientaddr.Proxies // whose word about the client's address counts
	ProxyProtocol  bool               // connections come from Proxies alone, and begin with the PROXY protocol's header
	MaxConns       int                // connections at once; 0: no limit
	MaxClientConns int                // connections at once of a client address that is none of Proxies; 0: no limit

	versions  []version                             // nil: those that are published
	documents func(string) (openapi.Document, bool) // nil: those of the published versions
}

// The limits that the command line starts from.
const (
	DefaultKeyRate    = 100
	DefaultClientRate = 600

	DefaultMaxConns       = 10_000
	DefaultMaxClientConns = 256 // an office behind one address has room, and 39 such clients don't fill the server
)

// maxStreams is how many requests an HTTP/2 connection may have open at once, and
// so how many handlers it can keep busy. Who goes on to open and reset more is
// cut off by net/http.
const maxStreams = 100

// Server answers the Team Data API from a store. Make one with New.
type Server struct {
	store       store.Store
	log         zerolog.Logger
	now         func() time.Time
	versions    []version
	documents   func(version string) (openapi.Document, bool)
	router      *web.Router
	mounts      []Mount
	home        string
	http        http.Server
	proxies     clientaddr.Proxies
	connections *connLimiter
	keys        accessCache
	keyUse      keyUse
	keyLimit    *ratelimit.Limiter[string]
	clientLimit *ratelimit.Limiter[netip.Prefix]
	keyPolicy   []string // the header RateLimit-Policy; nil without a limit
	idempotency store.Idempotency
	stopping    atomic.Bool
	observer    Observer
	sampled     atomic.Uint64 // requests that could have been logged
	drainDelay  time.Duration // how long Shutdown answers 503
}

// New makes a server on a store, which stays the caller's to close.
func New(s store.Store, c Config) *Server {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.versions == nil {
		c.versions = published
	}
	if c.documents == nil {
		c.documents = openapi.Of
	}
	srv := &Server{
		store: s, log: c.Log, now: c.Now, versions: c.versions, documents: c.documents, mounts: slices.Clip(c.Mounts), home: c.Home,
		proxies: c.Proxies, connections: newConnLimiter(c),
		keyLimit:    ratelimit.New[string](c.KeyRate, limitWindow, maxTrackedKeys),
		clientLimit: ratelimit.New[netip.Prefix](c.ClientRate, limitWindow, maxTrackedClients),
		keyPolicy:   keyPolicy(c.KeyRate),
		drainDelay:  200 * time.Millisecond,
	}
	srv.mounts = append(srv.mounts, newDocs(srv, c.Address))
	srv.router = web.NewRouter(basePath, "/members", routes, (*route).pattern, srv.serve)
	srv.http = http.Server{
		Handler:           srv,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    64 << 10,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams, WriteByteTimeout: 30 * time.Second},
		ConnContext:       rememberConn,
		ErrorLog:          log.New(connectionLog{c.Log}, "", 0),
		// OPTIONS * is answered like any other unknown route.
		DisableGeneralOptionsHandler: true,
	}
	return srv
}

// Serve answers what arrives at l, over TLS unless tlsConfig is nil, and
// returns nil after Shutdown. It may be called for several listeners.
func (s *Server) Serve(l net.Listener, tlsConfig *tls.Config) error {
	l = cork.Listener(limitedListener{l, s.connections})
	if tlsConfig != nil {
		tlsConfig = tlsConfig.Clone()
		tlsConfig.NextProtos = append([]string{"h2", "http/1.1"}, tlsConfig.NextProtos...)
		l = tls.NewListener(l, tlsConfig)
	}
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown stops the server. From its start on a request that comes is answered
// 503 `unavailable`, and its connection is closed. A moment later all
// connections that are not in use are, and the requests that run are waited
// for until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopping.Store(true)
	// Once it stops, net/http drops what comes without an answer. The clients that
	// are busy at this moment get theirs first.
	select {
	case <-time.After(s.drainDelay):
	case <-ctx.Done():
	}
	return s.http.Shutdown(ctx)
}

// connectionLog takes what net/http says about single connections, such as a
// failed handshake: anyone can cause it, so it is no more than debug.
type connectionLog struct{ log zerolog.Logger }

func (c connectionLog) Write(line []byte) (int, error) {
	c.log.Debug().Msg(strings.TrimSpace(string(line)))
	return len(line), nil
}
