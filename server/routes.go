package server

import (
	"net/http"

	"github.com/julienschmidt/httprouter"

	"teamdata/store"
	"teamdata/web"
)

// basePath stands before the path of every route.
const basePath = "/api/v1"

// route is one operation of the API, with what a key needs to use it.
type route struct {
	method   string
	path     string
	scope    store.Scope // 0: it needs no key
	features store.Feature
	handle   func(*exchange) error
}

var routes = []route{
	{"GET", "/members", store.ScopeRead, store.FeatureAPI, (*exchange).listMembers},
	{"GET", "/audit-log", store.ScopeRead, store.FeatureAPI | store.FeatureAuditLog, (*exchange).listAuditLog},
	{"POST", "/webhooks/:id/test", store.ScopeWrite, store.FeatureAPI | store.FeatureWebhooks, (*exchange).testWebhook},
	{"GET", "/assistant/instructions", store.ScopeRead, store.FeatureAPI, (*exchange).readInstructions},
	{"GET", "/openapi.json", 0, 0, (*exchange).describeInJSON},
	{"GET", "/openapi.yaml", 0, 0, (*exchange).describeInYAML},
}

// newRouter enters the routes. HEAD is answered wherever GET is. The router
// redirects nothing and answers nothing by itself.
func (s *Server) newRouter() *httprouter.Router {
	router := &httprouter.Router{}
	for i := range routes {
		rt := &routes[i]
		handle := func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
			s.serve(w, r, rt, params)
		}
		router.Handle(rt.method, basePath+rt.path, handle)
		if rt.method == http.MethodGet {
			router.Handle(http.MethodHead, basePath+rt.path, handle)
		}
	}
	router.NotFound = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, nil, nil)
	})
	return router
}

// checkRoute answers 404 and 405.
func (x *exchange) checkRoute() error {
	if x.route != nil && !web.HasEmpty(x.params) {
		return nil
	}
	return web.NoRoute(x.s.router, x.r.URL.Path, basePath, "/members", x.w.Header())
}
