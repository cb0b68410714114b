package server

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"teamdata/server/cork"
	"teamdata/store"
	"teamdata/wire/web"
)

// request is one request being answered.
type request struct {
	web.Request
	s          *Server
	route      *route // nil: there is no such route, or it is for a Mount
	now        time.Time
	version    int           // the pinned version, as an index into Server.versions; 0 is the current one
	versionErr error         // why no version could be pinned
	access     *store.Access // known once the key has passed
	record     accessRecord
	// wrap turns an answer of the route into the answer that is sent; nil: it is sent
	// as it is.
	wrap func(store.Answer) store.Answer
}

// ServeHTTP handles every request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.config.TestClock {
		web.SetTestClock(w.Header(), s.config.Now())
	}
	if r.ProtoMajor == 2 {
		s.serveStream(w, r)
		return
	}
	if known := connectionOf(r); known != nil && known.handled != nil {
		known.handled.Store(true)
		defer known.settled()
	}
	s.answer(w, r)
}

// answer answers a request. Health checks pass no check at all. A request for a mount
// goes to its handler, after the checks that need no key; any other goes to the routes
// of this API.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	if isHealth(r) {
		s.answerHealth(w, r)
		return
	}
	s.setStrictTransport(w, r)
	for i := range s.config.Mounts {
		if s.config.Mounts[i].has(r.URL.Path) {
			s.serveMount(web.Request{W: w, HTTP: r, Pattern: s.config.Mounts[i].pattern()}, &s.config.Mounts[i])
			return
		}
	}
	if s.config.Home != "" && isBrowserAtRoot(r) {
		w.Header().Set("Vary", "Accept")
		http.Redirect(w, r, s.config.Home, http.StatusFound)
		return
	}
	switch {
	case r.URL.Path == mcpRoute.path:
		s.mcpRouter.ServeHTTP(w, r)
	case isPull(r.URL.Path):
		s.pullRouter.ServeHTTP(w, r)
	default:
		s.router.ServeHTTP(w, r)
	}
}

// setStrictTransport sets the header Strict-Transport-Security, which counts for a
// year from each answer on.
func (s *Server) setStrictTransport(w http.ResponseWriter, r *http.Request) {
	if r.TLS != nil && s.config.StrictTransport != nil && s.config.StrictTransport(r.TLS.ServerName) {
		w.Header()["Strict-Transport-Security"] = []string{"max-age=31536000"}
	}
}

// isBrowserAtRoot reports whether a person typed only the server's name. Other
// clients get the answer to an unknown path.
func isBrowserAtRoot(r *http.Request) bool {
	return r.URL.Path == "/" && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// serve answers a request of this API.
func (s *Server) serve(common web.Request, rt *route) { s.serveChecked(common, rt, rt.checks()) }

func (s *Server) serveChecked(common web.Request, rt *route, checks []func(*request) error) {
	r := s.begin(common)
	defer r.end()
	r.route = rt
	r.version, r.versionErr = s.pinnedVersion(r.HTTP.Header)
	web.Serve(r, checks, (*request).handle)
}

// checks are what a request must pass before its route's handler sees it. The
// order is part of the contract: if several checks fail, the first one is
// answered. A handler's own checks come after: its parameters, then the
// idempotency of the request, then the resource.
var checks = []func(*request) error{
	(*request).checkRunning,     // 503
	(*request).CheckRoute,       // 404, 405
	(*request).checkClientLimit, // 429
	(*request).checkVersion,     // 400
}

// keyChecks are the checks of routes that need a key.
var keyChecks = slices.Concat(checks, []func(*request) error{
	(*request).checkKey, // 401
}, useChecks)

// useChecks are what a key must pass to use a route.
var useChecks = []func(*request) error{
	(*request).checkKeyLimit, // 429
	(*request).checkPlan,     // 402
	(*request).checkScope,    // 403
}

func (rt *route) checks() []func(*request) error {
	if rt == nil || rt.scope == 0 {
		return checks
	}
	return keyChecks
}

func (r *request) handle() error { return r.route.handle(r) }

// Fail answers an error, in JSON.
func (r *request) Fail(e *store.Error) {
	if r.s.stopping.Load() {
		r.W.Header()["Connection"] = web.Close
	}
	r.answer(r.ErrorAnswer(e))
}

// Fault starts a log line about a fault of the server.
func (r *request) Fault() *zerolog.Event {
	return r.s.config.Log.Error().Str("method", r.HTTP.Method).Str("path", r.HTTP.URL.Path)
}

// answer sends an answer of the current version, converted to the pinned one.
func (r *request) answer(a store.Answer) { r.send(r.inVersion(a)) }

// bufferedBody is how much net/http buffers: an answer with a body up to this
// size is sent in one write anyway.
const bufferedBody = 2 << 10

// send sends an answer of the pinned version. A large body on HTTP/1 is sent in one
// write to the network, where net/http and TLS would make several.
func (r *request) send(a store.Answer) {
	if r.wrap != nil {
		a = r.wrap(a)
		delete(r.W.Header(), "ETag") // of what is in it
	}
	r.setVersion()
	if known := connectionOf(r.HTTP); known != nil && known.cork != nil && len(a.Body) > bufferedBody {
		known.cork.Cork()
		defer known.cork.Uncork()
		defer http.NewResponseController(r.W).Flush()
	}
	r.Send(a)
}

// connection is what the requests on a connection share.
type connection struct {
	below   net.Conn     // TLS, on HTTP/2
	settled func()       // called when an answer was taken
	handled *atomic.Bool // of an http1Conn; nil on HTTP/2
	cork    *cork.Conn   // nil: none, or answers share it, on HTTP/2
	known   atomic.Bool  // a key was accepted on it
	cut     atomic.Bool
}

type connectionKey struct{}

func rememberConn(ctx context.Context, c net.Conn) context.Context {
	known := &connection{settled: settle(c)}
	switch c := c.(type) {
	case *tls.Conn:
		known.below = c.NetConn()
	case handling:
		known.handled = c.isHandled()
		known.cork, _ = cork.Beneath[*cork.Conn](c)
	}
	return context.WithValue(ctx, connectionKey{}, known)
}

// connectionOf returns the connection of a request; nil if it came by none of ours.
func connectionOf(r *http.Request) *connection {
	known, _ := r.Context().Value(connectionKey{}).(*connection)
	return known
}

func (r *request) checkRunning() error {
	if r.s.stopping.Load() {
		return web.ErrStopping
	}
	return nil
}

func (r *request) checkVersion() error { return r.versionErr }

func (r *request) checkPlan() error {
	missing := r.route.features &^ r.access.Features
	switch {
	case missing == 0:
		return nil
	case missing.Has(store.FeatureAPI):
		return store.Errorf(store.CodeUpgradeRequired, "The org's plan does not include the API, or its subscription is not active.")
	}
	return store.Errorf(store.CodeUpgradeRequired, "The org's plan does not include %s, which this route needs.", missing)
}

func (r *request) checkScope() error {
	if r.access.Key.Scopes.Has(r.route.scope) {
		return nil
	}
	return store.Errorf(store.CodeForbidden, "The API key lacks the scope %s, which this route needs.", strings.Join(r.route.scope.Names(), " and "))
}
