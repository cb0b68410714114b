package admin

import (
	"net/http"
	"slices"

	"teamdata/wire/web"
)

// basePath is the prefix of every path.
const basePath = "/admin/v1"

// The largest bodies of requests, in bytes.
const (
	noBody          = 0 // it is ignored
	maxBody         = 64 << 10
	maxInstructions = 1 << 20
	maxBatch        = 8 << 20 // any 1,000 members fit, and 1,000 events of 8 KiB
)

// Path prefixes shared by several routes.
const (
	orgParam         = "org"
	org              = "/orgs/:" + orgParam
	oneMember        = org + "/members/:userId"
	oneKey           = org + "/keys/:key"
	oneEndpoint      = org + "/endpoints/:endpoint"
	oneDelivery      = org + "/deliveries/:delivery"
	oneReplay        = org + "/replays/:replay"
	oneEventType     = "/event-types/:type"
	theInstructions  = org + "/instructions"
	theSubscription  = org + "/subscription"
	oneOperatorToken = "/operator-tokens/:token"
)

// route is one operation of the API.
type route struct {
	method string
	path   string
	body   int64
	handle func(*request) error
}

var routes = []route{
	{"GET", "/status", noBody, (*request).readStatus},
	{"GET", "/nodes", noBody, (*request).listNodes},
	{"GET", "/backup", noBody, (*request).readBackup},

	{"GET", "/audit-log", noBody, (*request).listOperatorLog},

	{"GET", "/orgs", noBody, (*request).listOrgs},
	{"POST", "/orgs", maxBody, (*request).createOrg},
	{"GET", org, noBody, (*request).readOrg},
	{"PATCH", org, maxBody, (*request).updateOrg},
	{"DELETE", org, noBody, (*request).deleteOrg},
	{"GET", theSubscription, noBody, (*request).readSubscription},
	{"PUT", theSubscription, maxBody, (*request).updateSubscription},

	{"GET", org + "/members", noBody, (*request).listMembers},
	{"POST", org + "/members", maxBody, (*request).addMember},
	{"GET", oneMember, noBody, (*request).readMember},
	{"PUT", oneMember, maxBody, (*request).putMember},
	{"PATCH", oneMember, maxBody, (*request).updateMember},
	{"DELETE", oneMember, noBody, (*request).removeMember},
	{"POST", oneMember + "/signin-link", maxBody, (*request).createSignInLink},
	{"POST", org + "/members/batch", maxBatch, (*request).addMembers},
	{"POST", org + "/portal-link", maxBody, (*request).createPortalLink},
	{"GET", org + "/portal-sessions", noBody, (*request).listPortalSessions},
	{"DELETE", org + "/portal-sessions/:session", noBody, (*request).endPortalSession},

	{"GET", org + "/audit-log", noBody, (*request).listAuditLog},
	{"POST", org + "/audit-log", maxBody, (*request).addAuditEntry},
	{"POST", org + "/audit-log/batch", maxBatch, (*request).addAuditEntries},

	{"GET", theInstructions, noBody, (*request).readInstructions},
	{"PUT", theInstructions, maxInstructions, (*request).putInstructions},
	{"DELETE", theInstructions, noBody, (*request).clearInstructions},

	{"GET", org + "/keys", noBody, (*request).listKeys},
	{"POST", org + "/keys", maxBody, (*request).createKey},
	{"GET", oneKey, noBody, (*request).readKey},
	{"POST", oneKey + "/revoke", maxBody, (*request).revokeKey},

	{"GET", org + "/endpoints", noBody, (*request).listEndpoints},
	{"POST", org + "/endpoints", maxBody, (*request).createEndpoint},
	{"GET", oneEndpoint, noBody, (*request).readEndpoint},
	{"PATCH", oneEndpoint, maxBody, (*request).updateEndpoint},
	{"DELETE", oneEndpoint, noBody, (*request).deleteEndpoint},
	{"GET", oneEndpoint + "/secret", noBody, (*request).readSecret},
	{"POST", oneEndpoint + "/enable", maxBody, (*request).enableEndpoint},
	{"POST", oneEndpoint + "/disable", maxBody, (*request).disableEndpoint},
	{"POST", oneEndpoint + "/rotate", maxBody, (*request).rotateSecret},
	{"POST", oneEndpoint + "/test", maxBody, (*request).testEndpoint},
	{"POST", oneEndpoint + "/recover", maxBody, (*request).recoverEndpoint},

	{"GET", org + "/deliveries", noBody, (*request).listDeliveries},
	{"GET", oneDelivery, noBody, (*request).readDelivery},
	{"POST", oneDelivery + "/replay", maxBody, (*request).replayDelivery},

	{"GET", org + "/replays", noBody, (*request).listReplays},
	{"POST", org + "/replays", maxBody, (*request).createReplay},
	{"GET", oneReplay, noBody, (*request).readReplay},
	{"POST", oneReplay + "/cancel", maxBody, (*request).cancelReplay},

	{"POST", org + "/files", maxBody, (*request).addFile},
	{"POST", org + "/events", maxBody, (*request).sendEvent},
	{"POST", org + "/events/batch", maxBatch, (*request).sendEvents},

	{"GET", "/plans", noBody, (*request).listPlans},
	{"PUT", "/plans/:name", maxBody, (*request).putPlan},
	{"DELETE", "/plans/:name", noBody, (*request).deletePlan},
	{"GET", "/event-types", noBody, (*request).listEventTypes},
	{"PUT", oneEventType, maxBody, (*request).putEventType},
	{"DELETE", oneEventType, noBody, (*request).deleteEventType},
	{"GET", "/operator-tokens", noBody, (*request).listOperatorTokens},
	{"POST", "/operator-tokens", maxBody, (*request).createOperatorToken},
	{"DELETE", oneOperatorToken, noBody, (*request).revokeOperatorToken},
}

// testRoutes are those that only a server with a test clock has.
var testRoutes = []route{
	{"GET", "/clock", noBody, (*request).readClock},
	{"POST", "/clock", maxBody, (*request).advanceClock},
	{"POST", "/reset", maxBody, (*request).resetData},
}

// pushed are the paths to which programs push changes as they happen.
var pushed = []string{
	org + "/members", org + "/members/batch", oneMember, org + "/audit-log", org + "/audit-log/batch", org + "/files",
	org + "/events", org + "/events/batch",
}

func (rt *route) pattern() (method, path string) { return rt.method, rt.path }

// api is the routes with one way to authenticate requests.
type api struct {
	*Admin
	router       *web.Router
	authenticate func(*request) error
}

func (a *Admin) newAPI(authenticate func(*request) error) http.Handler {
	api := &api{Admin: a, authenticate: authenticate}
	all := routes
	if a.config.TestClock != nil {
		all = slices.Concat(routes, testRoutes)
	}
	api.router = web.NewRouter(basePath, "/status", all, (*route).pattern, api.serve)
	for i := range openRoutes {
		rt := &openRoutes[i]
		api.router.Add(rt.method, rt.path, func(r web.Request) { api.serveOpen(r, rt) })
	}
	return api.router
}
