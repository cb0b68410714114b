package admin

import (
	"net/http"
	"slices"

	"github.com/julienschmidt/httprouter"

	"teamdata/internal/web"
)

// basePath stands before the path of every route.
const basePath = "/admin/v1"

// The most that is read of a request's body, in bytes.
const (
	noBody          = 0 // it is not looked at
	maxBody         = 64 << 10
	maxInstructions = 1 << 20
	maxBatch        = 8 << 20
)

// Paths that more than one route begins with.
const (
	orgParam         = "org"
	org              = "/orgs/:" + orgParam
	oneMember        = org + "/members/:userId"
	oneKey           = org + "/keys/:key"
	oneEndpoint      = org + "/endpoints/:endpoint"
	oneDelivery      = org + "/deliveries/:delivery"
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
	handle func(*exchange) error
}

var routes = []route{
	{"GET", "/status", noBody, (*exchange).readStatus},
	{"GET", "/backup", noBody, (*exchange).sendBackup},

	{"GET", "/orgs", noBody, (*exchange).listOrgs},
	{"POST", "/orgs", maxBody, (*exchange).createOrg},
	{"GET", org, noBody, (*exchange).readOrg},
	{"PATCH", org, maxBody, (*exchange).renameOrg},
	{"GET", theSubscription, noBody, (*exchange).readSubscription},
	{"PUT", theSubscription, maxBody, (*exchange).changeSubscription},

	{"GET", org + "/members", noBody, (*exchange).listMembers},
	{"POST", org + "/members", maxBody, (*exchange).addMember},
	{"GET", oneMember, noBody, (*exchange).readMember},
	{"PATCH", oneMember, maxBody, (*exchange).changeMember},
	{"DELETE", oneMember, noBody, (*exchange).removeMember},
	{"POST", oneMember + "/signin-link", maxBody, (*exchange).createSignInLink},

	{"GET", org + "/audit-log", noBody, (*exchange).listAuditLog},
	{"POST", org + "/audit-log", maxBody, (*exchange).appendAudit},
	{"POST", org + "/audit-log/batch", maxBatch, (*exchange).appendAuditBatch},

	{"GET", theInstructions, noBody, (*exchange).readInstructions},
	{"PUT", theInstructions, maxInstructions, (*exchange).putInstructions},
	{"DELETE", theInstructions, noBody, (*exchange).clearInstructions},

	{"GET", org + "/keys", noBody, (*exchange).listKeys},
	{"POST", org + "/keys", maxBody, (*exchange).createKey},
	{"GET", oneKey, noBody, (*exchange).readKey},
	{"POST", oneKey + "/revoke", maxBody, (*exchange).revokeKey},

	{"GET", org + "/endpoints", noBody, (*exchange).listEndpoints},
	{"POST", org + "/endpoints", maxBody, (*exchange).createEndpoint},
	{"GET", oneEndpoint, noBody, (*exchange).readEndpoint},
	{"PATCH", oneEndpoint, maxBody, (*exchange).changeEndpoint},
	{"DELETE", oneEndpoint, noBody, (*exchange).removeEndpoint},
	{"GET", oneEndpoint + "/secret", noBody, (*exchange).readSecret},
	{"POST", oneEndpoint + "/enable", maxBody, (*exchange).enableEndpoint},
	{"POST", oneEndpoint + "/disable", maxBody, (*exchange).disableEndpoint},
	{"POST", oneEndpoint + "/rotate", maxBody, (*exchange).rotateSecret},
	{"POST", oneEndpoint + "/test", maxBody, (*exchange).testEndpoint},
	{"POST", oneEndpoint + "/recover", maxBody, (*exchange).recoverEndpoint},

	{"GET", oneEndpoint + "/deliveries", noBody, (*exchange).listDeliveries},
	{"GET", oneDelivery, noBody, (*exchange).readDelivery},
	{"POST", oneDelivery + "/replay", maxBody, (*exchange).replayDelivery},

	{"POST", org + "/files", maxBody, (*exchange).uploadFile},
	{"POST", org + "/events", maxBody, (*exchange).sendEvent},

	{"GET", "/plans", noBody, (*exchange).listPlans},
	{"PUT", "/plans/:name", maxBody, (*exchange).putPlan},
	{"DELETE", "/plans/:name", noBody, (*exchange).removePlan},
	{"GET", "/event-types", noBody, (*exchange).listEventTypes},
	{"PUT", oneEventType, maxBody, (*exchange).putEventType},
	{"DELETE", oneEventType, noBody, (*exchange).removeEventType},
	{"GET", "/operator-tokens", noBody, (*exchange).listOperatorTokens},
	{"POST", "/operator-tokens", maxBody, (*exchange).createOperatorToken},
	{"DELETE", oneOperatorToken, noBody, (*exchange).revokeOperatorToken},
}

// face is the routes behind one way to prove who asks.
type face struct {
	*Admin
	router   *httprouter.Router
	checkWho func(*exchange) error
}

func (a *Admin) newFace(checkWho func(*exchange) error) http.Handler {
	f := &face{Admin: a, checkWho: checkWho}
	f.router = web.NewRouter(append(slices.Clip(routes), description), (*route).place, f.serve)
	return f.router
}

func (rt *route) place() (method, path string) { return rt.method, basePath + rt.path }

// checkRoute answers 404 and 405.
func (x *exchange) checkRoute() error {
	if x.route != nil && !web.HasEmpty(x.params) {
		return nil
	}
	return web.NoRoute(x.f.router, x.r.URL.Path, basePath, "/status", x.w.Header())
}
