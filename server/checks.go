package server

import (
	"net/http"
	"time"

	"github.com/julienschmidt/httprouter"

	"teamdata/store"
)

// exchange is one request on its way to its answer.
type exchange struct {
	s          *Server
	w          http.ResponseWriter
	r          *http.Request
	route      *route // nil: there is no such route
	params     httprouter.Params
	now        time.Time
	version    int           // the pinned version, as an index into Server.versions; 0 is the current one
	versionErr error         // why no version could be pinned
	access     *store.Access // known once the key has passed
	sent       bool          // the answer has begun
	seen       seen
}

// checks are what a request must pass before its route's handler sees it. The
// order is a promise: of several things that are wrong, the first is answered.
// What a handler checks itself comes after: its parameters, then the
// idempotency of the request, then the resource.
var checks = [...]func(*exchange) error{
	(*exchange).checkRunning,     // 503
	(*exchange).checkRoute,       // 404, 405
	(*exchange).checkClientLimit, // 429
	(*exchange).checkVersion,     // 400
}

// keyChecks come after those, on routes that need a key.
var keyChecks = [...]func(*exchange) error{
	(*exchange).checkKey,      // 401
	(*exchange).checkKeyLimit, // 429
	(*exchange).checkPlan,     // 402
	(*exchange).checkScope,    // 403
}

// serve answers one request. Each request comes through here.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, rt *route, params httprouter.Params) {
	x := &exchange{s: s, w: w, r: r, route: rt, params: params, now: s.now()}
	x.begin(patternOf[rt])
	defer x.end()
	x.version, x.versionErr = s.pinnedVersion(r.Header)
	defer x.recoverPanic()
	if err := x.run(); err != nil {
		x.fail(err)
	}
}

func (x *exchange) run() error {
	if err := x.pass(checks[:]); err != nil {
		return err
	}
	if x.route.scope != 0 {
		if err := x.pass(keyChecks[:]); err != nil {
			return err
		}
	}
	return x.route.handle(x)
}

func (x *exchange) pass(checks []func(*exchange) error) error {
	for _, check := range checks {
		if err := check(x); err != nil {
			return err
		}
	}
	return nil
}

var errStopping = store.Errorf(store.CodeUnavailable, "The server is stopping. Try again later.")

func (x *exchange) checkRunning() error {
	if x.s.stopping.Load() {
		return errStopping
	}
	return nil
}

func (x *exchange) checkVersion() error { return x.versionErr }

func (x *exchange) checkPlan() error {
	missing := x.route.features &^ x.access.Features
	switch {
	case missing == 0:
		return nil
	case missing.Has(store.FeatureAPI):
		return store.Errorf(store.CodeUpgradeRequired, "The org's plan does not include the API, or its subscription is not active.")
	}
	return store.Errorf(store.CodeUpgradeRequired, "The org's plan does not include %s, which this route needs.", missing)
}

func (x *exchange) checkScope() error {
	if x.access.Key.Scopes.Has(x.route.scope) {
		return nil
	}
	return store.Errorf(store.CodeForbidden, "The API key lacks the scope %s, which this route needs.", scopeName(x.route.scope))
}

func scopeName(scope store.Scope) string {
	if scope == store.ScopeWrite {
		return "write"
	}
	return "read"
}
