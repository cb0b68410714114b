package admin

import (
	"net/http"
	"slices"

	"teamdata/wire/web"
)

// basePath is the prefix of every path.
const basePath = "/admin/v1"

// The largest bodies of requests, in bytes. The description names those that are not
// maxBody by x-max-body.
const (
	noBody          = 0 // it is ignored
	maxBody         = 64 << 10
	maxEndpoint     = 256 << 10 // the certificates and headers of one fit, however they are escaped
	maxInstructions = 1 << 20
	maxBatch        = 8 << 20 // any 1,000 members fit, and 1,000 events of 8 KiB
)

// route is one operation of the API. The routes are generated from its description, so
// an operation without a handler of its name does not compile.
type route struct {
	method string
	path   string
	body   int64
	handle func(*request) error
}

// pushed are the paths to which programs push changes as they happen.
var pushed = []string{
	"/orgs/:org/members", "/orgs/:org/members/batch", "/orgs/:org/members/:userId",
	"/orgs/:org/audit-log", "/orgs/:org/audit-log/batch", "/orgs/:org/files", "/orgs/:org/events", "/orgs/:org/events/batch",
}

func (rt *route) pattern() (method, path string) { return rt.method, rt.path }

// handler is the routes for one kind of client.
type handler struct {
	*Admin
	local bool // it can only be the operator
}

func (a *Admin) newAPI(local bool) http.Handler {
	h := &handler{Admin: a, local: local}
	all := routes
	if a.config.TestClock != nil {
		all = slices.Concat(routes, testRoutes)
	}
	router := web.NewRouter(basePath, "/status", all, (*route).pattern, h.serve)
	for i := range openRoutes {
		rt := &openRoutes[i]
		router.Add(rt.method, rt.path, func(common web.Request) { web.Serve(h.begin(common, rt), nil, (*request).handle) })
	}
	return router
}
