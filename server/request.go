package server

import (
	"time"

	"teamdata/internal/web"
	"teamdata/store"
)

// request is one request on its way to its answer.
type request struct {
	web.Request
	s          *Server
	route      *route // nil: there is no such route
	now        time.Time
	version    int           // the pinned version, as an index into Server.versions; 0 is the current one
	versionErr error         // why no version could be pinned
	access     *store.Access // known once the key has passed
	seen       seen
}

// checks are what a request must pass before its route's handler sees it. The
// order is a promise: of several things that are wrong, the first is answered.
// What a handler checks itself comes after: its parameters, then the
// idempotency of the request, then the resource.
var checks = [...]func(*request) error{
	(*request).checkRunning,     // 503
	(*request).checkRoute,       // 404, 405
	(*request).checkClientLimit, // 429
	(*request).checkVersion,     // 400
}

// keyChecks come after those, on routes that need a key.
var keyChecks = [...]func(*request) error{
	(*request).checkKey,      // 401
	(*request).checkKeyLimit, // 429
	(*request).checkPlan,     // 402
	(*request).checkScope,    // 403
}

// serve answers one request. Each request comes through here.
func (s *Server) serve(common web.Request, rt *route) {
	r := &request{Request: common, s: s, route: rt, now: s.now()}
	r.begin(patternOf[rt])
	defer r.end()
	r.version, r.versionErr = s.pinnedVersion(r.HTTP.Header)
	defer r.recoverPanic()
	if err := r.run(); err != nil {
		r.fail(err)
	}
}

func (r *request) run() error {
	if err := r.pass(checks[:]); err != nil {
		return err
	}
	if r.route.scope != 0 {
		if err := r.pass(keyChecks[:]); err != nil {
			return err
		}
	}
	return r.route.handle(r)
}

func (r *request) pass(checks []func(*request) error) error {
	for _, check := range checks {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

var errStopping = store.Errorf(store.CodeUnavailable, "The server is stopping. Try again later.")

func (r *request) checkRunning() error {
	if r.s.stopping.Load() {
		return errStopping
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
	return store.Errorf(store.CodeForbidden, "The API key lacks the scope %s, which this route needs.", scopeName(r.route.scope))
}

func scopeName(scope store.Scope) string {
	if scope == store.ScopeWrite {
		return "write"
	}
	return "read"
}
