package server

import (
	"teamdata/internal/web"
	"teamdata/store"
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

func (rt *route) place() (method, path string) { return rt.method, basePath + rt.path }

// checkRoute answers 404 and 405.
func (x *exchange) checkRoute() error {
	if x.route != nil && !web.HasEmpty(x.params) {
		return nil
	}
	return web.NoRoute(x.s.router, x.r.URL.Path, basePath, "/members", x.w.Header())
}
