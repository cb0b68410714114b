package admin

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"teamdata/internal/hint"
	"teamdata/store"
	"teamdata/wire/strictjson"
	"teamdata/wire/web"
)

// request is one request being answered.
type request struct {
	web.Request
	api     *handler
	route   *route              // nil: there is no such route
	token   store.OperatorToken // zero on the socket
	actor   string              // of audit entries; empty for none
	key     string              // Idempotency-Key of a POST; empty without one
	body    []byte
	in      *strictjson.Reader // of the body
	bodyErr error              // what is wrong with the body; view, update and idempotent return it
	beyond  store.Scope        // what is written, beyond the org of the path
}

// serve answers one request of the routes.
func (a *handler) serve(common web.Request, rt *route) {
	web.Serve(a.begin(common, rt), checks, (*request).handle)
}

func (a *handler) begin(common web.Request, rt *route) *request {
	r := &request{Request: common, api: a, route: rt}
	r.Docs = basePath + docsPath
	r.W.Header()["Teamdata-Version"] = []string{a.config.Version}
	if a.config.TestClock != nil {
		web.SetTestClock(r.W.Header(), a.config.TestClock.Now())
	}
	return r
}

// checks are what a request must pass before its route's handler sees it. The
// order is part of the contract: if several checks fail, the first one is
// answered. A handler's own checks follow: the form of the query or the body,
// then the idempotency of the request, then the org, and last the values.
var checks = []func(*request) error{
	(*request).CheckRoute,       // 404, 405
	(*request).checkCredentials, // 401
	(*request).checkActor,       // 400
	(*request).checkKey,         // 400
	(*request).readBody,         // 413, 400
}

func (r *request) handle() error { return r.route.handle(r) }

// Fail answers an error, in JSON.
func (r *request) Fail(e *store.Error) {
	if r.api.local && e.Code == store.CodeUnavailable && e.Err != nil {
		why, advice := hint.Split(e.Err)
		e = &store.Error{Code: e.Code, Message: strings.TrimSuffix(e.Message, ".") + ": " + why, Advice: advice}
	}
	delete(r.W.Header(), "ETag") // of a state that was not committed
	r.Send(r.ErrorAnswer(e))
}

// Fault starts a log line about a fault of the server.
func (r *request) Fault() *zerolog.Event {
	return r.api.config.Log.Error().Str("api", "admin").Str("method", r.HTTP.Method).Str("path", r.HTTP.URL.Path)
}

func (r *request) checkCredentials() error {
	if r.api.local {
		return nil
	}
	return r.checkToken()
}

// checkActor reads the header that names the actor of audit entries.
func (r *request) checkActor() error {
	const name = "Teamdata-Actor"
	values := r.HTTP.Header[name]
	switch {
	case len(values) == 0:
		return nil
	case len(values) > 1:
		return store.Invalid(name, "is given more than once").Advise("send it once")
	case values[0] == "" || !utf8.ValidString(values[0]) || utf8.RuneCountInString(values[0]) > maxActor:
		return store.Invalid(name, "must be 1 to %d characters of UTF-8", maxActor).Advise("leave it out for no actor")
	}
	r.actor = values[0]
	return nil
}

// maxActor is the maximum length of an audit entry's actor, in characters.
const maxActor = 200

// checkKey reads the Idempotency-Key of a POST.
func (r *request) checkKey() (err error) {
	if r.route.method == http.MethodPost {
		r.key, err = r.IdempotencyKey()
	}
	return err
}

// readBody reads the whole body, if the route has one, so no transaction waits
// for a client.
func (r *request) readBody() (err error) {
	if r.route.body == noBody {
		return nil
	}
	r.body, err = r.ReadBody(r.route.body)
	r.in = strictjson.New(bytes.NewReader(r.body), r.route.body)
	return err
}

// read reads the fields of the body, an object.
func (r *request) read(fields ...strictjson.Field) { r.bodyErr = r.in.Document(fields...) }

// readOptional is read for a body that may be empty.
func (r *request) readOptional(fields ...strictjson.Field) {
	if len(r.body) > 0 {
		r.read(fields...)
	}
}

// decode reads the body as a type of the API's description. The required fields are given as
// pairs of a name and a description.
func decode[T any](r *request, required ...string) (body T) {
	r.read(r.in.Struct(&body, required...)...)
	return body
}

// decodeOptional is decode for a body that may be empty.
func decodeOptional[T any](r *request) (body T) {
	r.readOptional(r.in.Struct(&body)...)
	return body
}

// orZero is the value of an optional field, or the zero value.
func orZero[T any](value *T) T { return *cmp.Or(value, new(T)) }

// seconds is a duration in a body; none if it is left out.
func seconds(n *int) time.Duration { return time.Duration(orZero(n)) * time.Second }

// org returns the org of the path; empty outside orgs.
func (r *request) org() string { return r.Param("org") }

// logChange logs who changed what, without the body, which may have secrets.
func (r *request) logChange(status int) {
	if status >= http.StatusBadRequest || slices.Contains(pushed, r.route.path) && !r.api.config.LogPushed() {
		return
	}
	line := r.api.config.Log.Info().Str("method", r.HTTP.Method).Str("path", r.HTTP.URL.Path).Int("status", status)
	if r.actor != "" {
		line = line.Str("actor", r.actor)
	}
	if r.token.ID != "" {
		line = line.Str("token", r.token.ID)
	}
	line.Msg("changed")
}
