package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"teamdata/store"
)

// Each answer that the document has for an operation is given, with a request made
// for it; and kin-openapi, which others hold their servers to documents with,
// finds nothing wrong with it either.
func TestDescribedAnswersAreGiven(t *testing.T) {
	document, root := described(t)
	second := secondOpinion(t, document.JSON)
	for path := range root.at("paths") {
		for method, operation := range root.at("paths", path) {
			for status := range branch(operation.(map[string]any)).at("responses") {
				t.Run(method+path+status, func(t *testing.T) {
					code, _ := strconv.Atoi(status)
					bring, ok := bringAbout[code]
					if !ok {
						t.Fatal("bringAbout doesn't know how to get this answer")
					}
					env := newTestEnv(t, Config{ClientRate: 2})
					scope := map[string]string{"get": "key_read", "post": "key_write"}[method]
					r := newRequest(strings.ToUpper(method), basePath+strings.ReplaceAll(path, "{id}", "whe_open"), scope)
					bring(env, r)
					answer := env.do(r)
					if answer.Code != code {
						t.Fatalf("got %d %s", answer.Code, answer.Body)
					}
					second.check(t, r, code, answer.Header(), answer.Body.Bytes())
				})
			}
		}
	}
}

// bringAbout changes a request that would be answered 200, or the environment, so that
// the answer has a status.
var bringAbout = map[int]func(env *testEnv, r *http.Request){
	200: func(*testEnv, *http.Request) {},
	304: func(env *testEnv, r *http.Request) {
		r.Header.Set("If-None-Match", header(env.do(r.Clone(r.Context())), "ETag")[0])
	},
	400: func(env *testEnv, r *http.Request) { r.Header.Set("API-Version", "2020-01-01") },
	401: func(env *testEnv, r *http.Request) { r.Header.Del("Authorization") },
	402: func(env *testEnv, r *http.Request) { withKey(r, "key_free") },
	403: func(env *testEnv, r *http.Request) {
		withKey(r, map[string]string{"GET": "key_write", "POST": "key_read"}[r.Method])
	},
	404: func(env *testEnv, r *http.Request) {
		r.URL.Path = strings.ReplaceAll(r.URL.Path, "whe_open", "whe_none")
	},
	405: func(env *testEnv, r *http.Request) { r.Method = http.MethodDelete },
	409: func(env *testEnv, r *http.Request) {
		r.URL.Path = strings.ReplaceAll(r.URL.Path, "whe_open", "whe_closed")
	},
	413: func(env *testEnv, r *http.Request) { withBody(r, maxBody+1) },
	422: func(env *testEnv, r *http.Request) {
		r.Header.Set("Idempotency-Key", "used")
		env.do(r.Clone(r.Context()))
		withBody(r, 1)
	},
	429: func(env *testEnv, r *http.Request) {
		for range 2 {
			env.do(r.Clone(r.Context()))
		}
	},
	500: func(env *testEnv, r *http.Request) {
		env.do(r.Clone(r.Context())) // from now on the key is known
		env.server.store = brokenStore{env.server.store}
	},
	503: func(env *testEnv, _ *http.Request) { env.server.stopping.Store(true) },
}

func withKey(r *http.Request, id string) {
	r.Header.Set("Authorization", "Bearer "+id+"."+fixtureSecret)
}

// brokenStore fails in a way that nobody has foreseen.
type brokenStore struct{ store.Store }

var errBroken = errors.New("broken")

func (brokenStore) View(context.Context, func(store.Tx) error) error                { return errBroken }
func (brokenStore) Update(context.Context, store.Scope, func(store.Tx) error) error { return errBroken }

// opinion is what kin-openapi makes of a document.
type opinion struct{ router routers.Router }

func secondOpinion(t *testing.T, document []byte) opinion {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return opinion{router}
}

func (o opinion) check(t *testing.T, r *http.Request, status int, have http.Header, body []byte) {
	t.Helper()
	if status == http.StatusMethodNotAllowed {
		r.Method = map[bool]string{true: "POST", false: "GET"}[strings.HasSuffix(r.URL.Path, "/test")]
	}
	route, params, err := o.router.FindRoute(r)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{}
	for name, values := range have {
		header[http.CanonicalHeaderKey(name)] = values
	}
	asked := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
	if err := openapi3filter.ValidateRequest(t.Context(), asked); err != nil && status < http.StatusBadRequest {
		t.Errorf("the request: %v", err)
	}
	if err := openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: asked, Status: status, Header: header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}); err != nil {
		t.Error(err)
	}
}

// The bounds and the default of limit are those that the server has.
func TestLimitIsDescribed(t *testing.T) {
	_, root := described(t)
	schema := root.at("components", "parameters", "limit", "schema")
	bound := func(name string) int { return int(schema[name].(float64)) }
	env := newTestEnv(t, Config{})
	addMembers(env, 100)
	for limit, want := range map[int]int{
		bound("minimum") - 1: 400, bound("minimum"): 200, bound("maximum"): 200, bound("maximum") + 1: 400,
	} {
		if got := env.do(newRequest("GET", fmt.Sprintf("/api/v1/members?limit=%d", limit), "key_read")).Code; got != want {
			t.Errorf("openapi.yaml has limit from %v to %v, and %d is answered %d", schema["minimum"], schema["maximum"], limit, got)
		}
	}
	body := env.do(newRequest("GET", "/api/v1/members", "key_read")).Body.String()
	if n := strings.Count(body, `"userId"`); n != bound("default") {
		t.Errorf("openapi.yaml has the default limit %v, and %d items are answered", schema["default"], n)
	}
}
