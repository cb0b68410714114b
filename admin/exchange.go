package admin

import (
	"bytes"
	"net/http"
	"unicode/utf8"

	"github.com/julienschmidt/httprouter"

	"teamdata/internal/strictjson"
	"teamdata/internal/web"
	"teamdata/store"
)

// exchange is one request on its way to its answer.
type exchange struct {
	f      *face
	w      http.ResponseWriter
	r      *http.Request
	route  *route // nil: there is no such route
	params httprouter.Params
	token  string // id of the operator token; empty on the socket
	actor  string // who is named as the one who did it; empty for nobody
	key    string // Idempotency-Key of a POST; empty without one
	body   []byte
	in     *strictjson.Reader // of the body
	sent   bool               // the answer has begun
}

// checks are what a request must pass before its route's handler sees it. The
// order is a promise: of several things that are wrong, the first is answered.
// What a handler checks itself comes after: the form of the query or the body,
// then the idempotency of the request, then the org, and last what it says.
var checks = [...]func(*exchange) error{
	(*exchange).checkRoute, // 404, 405
	(*exchange).checkAsker, // 401
	(*exchange).checkActor, // 400
	(*exchange).checkKey,   // 400
	(*exchange).readBody,   // 413, 400
}

// serve answers one request. Each request comes through here.
func (f *face) serve(w http.ResponseWriter, r *http.Request, rt *route, params httprouter.Params) {
	x := &exchange{f: f, w: w, r: r, route: rt, params: params}
	defer x.recoverPanic()
	if err := x.run(); err != nil {
		x.fail(err)
	}
}

func (x *exchange) run() error {
	for _, check := range checks {
		if err := check(x); err != nil {
			return err
		}
	}
	return x.route.handle(x)
}

func (x *exchange) checkAsker() error { return x.f.checkWho(x) }

// checkActor reads the header that names who is to stand in the audit log.
func (x *exchange) checkActor() error {
	const name = "Teamdata-Actor"
	values := x.r.Header[name]
	switch {
	case len(values) == 0:
		return nil
	case len(values) > 1:
		return store.Invalid(name, "is given more than once; send it once")
	case values[0] == "" || !utf8.ValidString(values[0]) || utf8.RuneCountInString(values[0]) > maxActor:
		return store.Invalid(name, "must be 1 to %d characters of UTF-8; leave it out for no actor", maxActor)
	}
	x.actor = values[0]
	return nil
}

// maxActor is how many characters an actor of an audit entry may have.
const maxActor = 200

// checkKey reads the Idempotency-Key, which only a POST has.
func (x *exchange) checkKey() (err error) {
	if x.route.method == http.MethodPost {
		x.key, err = web.IdempotencyKey(x.r.Header)
	}
	return err
}

// readBody reads what the route takes of a body, whole: no transaction waits for
// a client.
func (x *exchange) readBody() (err error) {
	if x.route.body == noBody {
		return nil
	}
	x.body, err = web.ReadBody(x.w, x.r, x.route.body)
	x.in = strictjson.New(bytes.NewReader(x.body), x.route.body)
	return err
}

// noFields holds the body of a request that has nothing to say to being empty,
// or an empty object.
func (x *exchange) noFields() error {
	if len(x.body) == 0 {
		return nil
	}
	return x.in.Document()
}

// param is a parameter of the path.
func (x *exchange) param(name string) string { return x.params.ByName(name) }

// org is the org of the path; empty outside of orgs.
func (x *exchange) org() string { return x.param(orgParam) }
