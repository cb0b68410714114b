package admin

import (
	"bytes"
	"net/http"
	"unicode/utf8"

	"teamdata/internal/strictjson"
	"teamdata/internal/web"
	"teamdata/store"
)

// request is one request on its way to its answer.
type request struct {
	web.Request
	f     *face
	route *route // nil: there is no such route
	token string // id of the operator token; empty on the socket
	actor string // who is named as the one who did it; empty for nobody
	key   string // Idempotency-Key of a POST; empty without one
	body  []byte
	in    *strictjson.Reader // of the body
}

// checks are what a request must pass before its route's handler sees it. The
// order is a promise: of several things that are wrong, the first is answered.
// What a handler checks itself comes after: the form of the query or the body,
// then the idempotency of the request, then the org, and last what it says.
var checks = [...]func(*request) error{
	(*request).checkRoute, // 404, 405
	(*request).checkAsker, // 401
	(*request).checkActor, // 400
	(*request).checkKey,   // 400
	(*request).readBody,   // 413, 400
}

// serve answers one request. Each request comes through here.
func (f *face) serve(common web.Request, rt *route) {
	r := &request{Request: common, f: f, route: rt}
	defer r.recoverPanic()
	if err := r.run(); err != nil {
		r.fail(err)
	}
}

func (r *request) run() error {
	for _, check := range checks {
		if err := check(r); err != nil {
			return err
		}
	}
	return r.route.handle(r)
}

func (r *request) checkAsker() error { return r.f.checkWho(r) }

// checkActor reads the header that names who is to stand in the audit log.
func (r *request) checkActor() error {
	const name = "Teamdata-Actor"
	values := r.HTTP.Header[name]
	switch {
	case len(values) == 0:
		return nil
	case len(values) > 1:
		return store.Invalid(name, "is given more than once; send it once")
	case values[0] == "" || !utf8.ValidString(values[0]) || utf8.RuneCountInString(values[0]) > maxActor:
		return store.Invalid(name, "must be 1 to %d characters of UTF-8; leave it out for no actor", maxActor)
	}
	r.actor = values[0]
	return nil
}

// maxActor is how many characters an actor of an audit entry may have.
const maxActor = 200

// checkKey reads the Idempotency-Key, which only a POST has.
func (r *request) checkKey() (err error) {
	if r.route.method == http.MethodPost {
		r.key, err = web.IdempotencyKey(r.HTTP.Header)
	}
	return err
}

// readBody reads what the route takes of a body, whole: no transaction waits for
// a client.
func (r *request) readBody() (err error) {
	if r.route.body == noBody {
		return nil
	}
	r.body, err = web.ReadBody(r.W, r.HTTP, r.route.body)
	r.in = strictjson.New(bytes.NewReader(r.body), r.route.body)
	return err
}

// noFields holds the body of a request that has nothing to say to being empty,
// or an empty object.
func (r *request) noFields() error {
	if len(r.body) == 0 {
		return nil
	}
	return r.in.Document()
}

// param is a parameter of the path.
func (r *request) param(name string) string { return r.Params.ByName(name) }

// org is the org of the path; empty outside of orgs.
func (r *request) org() string { return r.param(orgParam) }
