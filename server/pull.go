package server

import (
	"net/http"
	"strings"

	"teamdata/store"
	"teamdata/wire/openapi"
	"teamdata/wire/reference"
	"teamdata/wire/web"
)

// pullPath is the prefix of the paths that consumers pull from. They stand beside the API's
// own because their operations are no tools of assistants, and have a limit of their own.
const pullPath = "/pull"

const pullFeatures = store.FeatureAPI | store.FeatureWebhooks

var pullRoutes = []route{
	{"POST", "/:endpoint", store.ScopeReceive, pullFeatures, (*request).pullDeliveries},
	{"POST", "/:endpoint/ack", store.ScopeReceive, pullFeatures, (*request).ackDeliveries},
	{"POST", "/:endpoint/nack", store.ScopeReceive, pullFeatures, (*request).nackDeliveries},
	{"POST", "/:endpoint/extend", store.ScopeReceive, pullFeatures, (*request).extendLeases},
	{"GET", "/openapi.json", 0, 0, func(r *request) error { return r.describePull(web.JSONType, openapi.Pull.JSON) }},
	{"GET", "/openapi.yaml", 0, 0, func(r *request) error { return r.describePull(reference.YAMLType, openapi.Pull.YAML) }},
}

func isPull(path string) bool {
	rest, ok := strings.CutPrefix(path, pullPath)
	return ok && (rest == "" || rest[0] == '/')
}

func (s *Server) servePull(common web.Request, rt *route) {
	if rt == nil || rt.scope == 0 {
		s.serveChecked(common, rt, checks)
	} else {
		s.serveChecked(common, rt, pullChecks)
	}
}

// pullChecks are keyChecks, but for the limits: consumers behind one address would exhaust
// that of the client. It counts only requests whose key is refused.
var pullChecks = []func(*request) error{
	(*request).checkRunning,   // 503
	(*request).CheckRoute,     // 404, 405
	(*request).checkPuller,    // 429, 400, 401
	(*request).checkPullLimit, // 429
	(*request).checkPlan,      // 402
	(*request).checkScope,     // 403
}

func (r *request) checkPuller() error {
	refused := r.checkKey()
	if refused != nil {
		if err := r.checkClientLimit(); err != nil {
			return err
		}
	}
	if err := r.checkVersion(); err != nil {
		return err
	}
	return refused
}

func (r *request) checkPullLimit() error { return r.take(&r.s.pullLimit) }

func (r *request) describePull(contentType string, body []byte) error {
	r.W.Header()["Cache-Control"] = describedFor
	r.send(r.Tagged(store.Answer{Status: http.StatusOK, ContentType: contentType, Body: body}, web.ETag(body)))
	return nil
}
