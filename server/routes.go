package server

import "teamdata/store"

// basePath is the prefix of every path.
const basePath = "/api/v1"

// route is one operation of the API, with what a key needs to use it.
type route struct {
	method   string
	path     string
	scope    store.KeyScope // 0: it needs no key
	features store.Feature
	handle   func(*request) error
}

var routes = []route{
	{"GET", "/members", store.ScopeRead, store.FeatureAPI, (*request).listMembers},
	{"GET", "/audit-log", store.ScopeRead, store.FeatureAPI | store.FeatureAuditLog, (*request).listAuditLog},
	{"POST", "/webhooks/:id/test", store.ScopeWrite, store.FeatureAPI | store.FeatureWebhooks, (*request).testWebhook},
	{"GET", "/assistant/instructions", store.ScopeRead, store.FeatureAPI, (*request).readInstructions},
	{"GET", "/openapi.json", 0, 0, (*request).describeInJSON},
	{"GET", "/openapi.yaml", 0, 0, (*request).describeInYAML},
}

func (rt *route) pattern() (method, path string) { return rt.method, rt.path }
