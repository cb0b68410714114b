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

var pullRoutes = []route{
	{"GET", "/openapi.json", 0, 0, func(r *request) error { return r.describePull(web.JSONType, openapi.Pull.JSON) }},
	{"GET", "/openapi.yaml", 0, 0, func(r *request) error { return r.describePull(reference.YAMLType, openapi.Pull.YAML) }},
}

func isPull(path string) bool {
	rest, ok := strings.CutPrefix(path, pullPath)
	return ok && (rest == "" || rest[0] == '/')
}

func (s *Server) servePull(common web.Request, rt *route) { s.serveChecked(common, rt, rt.checks()) }

func (r *request) describePull(contentType string, body []byte) error {
	r.W.Header()["Cache-Control"] = describedFor
	r.send(r.Tagged(store.Answer{Status: http.StatusOK, ContentType: contentType, Body: body}, web.ETag(body)))
	return nil
}
