// Package api_test holds the APIs' descriptions, and answers, to kin-openapi, with which
// others hold their servers to documents.
package api_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/rs/zerolog"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/contract"
	"teamdata/e2e/kit/engines"
	"teamdata/e2e/kit/orgs"
	"teamdata/e2e/kit/referee"
	"teamdata/server"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/storetest"
	"teamdata/wire/openapi"
)

// Each answer that the document has for an operation is given, with a request made
// for it; and kin-openapi, which others hold their servers to documents with,
// finds nothing wrong with it either.
func TestDescribedAnswersAreGiven(t *testing.T) {
	document, _ := openapi.Of(current)
	described, err := contract.ReadBy(referee.Compile, document.JSON)
	kit.Must(t, err)
	doc := load(t, document)
	second := secondOpinion(t, doc)
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				t.Run(method+path+status, func(t *testing.T) {
					code, _ := strconv.Atoi(status)
					bring, ok := bringAbout[code]
					if !ok {
						t.Fatal("bringAbout doesn't know how to get this answer")
					}
					s := newServed(t, described)
					r := httptest.NewRequest(method, "/api/v1"+strings.ReplaceAll(path, "{id}", "whe_open"), nil)
					withKey(r, map[string]string{"GET": "key_read", "POST": "key_write"}[method])
					bring(s, r)
					answer := s.do(r)
					if answer.Code != code {
						t.Fatalf("got %d %s", answer.Code, answer.Body)
					}
					second.check(t, r, code, answer.Header(), answer.Body.Bytes())
				})
			}
		}
	}
}

// served is a server on the orgs of the API's own tests, and its store.
type served struct {
	server *server.Server
	store  *breakable
	do     func(r *http.Request) *httptest.ResponseRecorder
}

func newServed(t *testing.T, described *contract.Contract) *served {
	env := kit.NewEnv(t, engines.Opener(t, boltstore.Options{}), orgs.Fill)
	s := &served{store: &breakable{Store: storetest.Scoped(t, env.Store)}}
	s.server = server.New(s.store, server.Config{ClientRate: 2, Now: env.Now, Log: zerolog.New(env.LogOutput)})
	watched := contract.Watch(t, s.server, described.Faults)
	s.do = func(r *http.Request) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		watched.ServeHTTP(answer, r)
		return answer
	}
	return s
}

// bringAbout changes a request that would be answered 200, or what is served, so that the
// answer has a status.
var bringAbout = map[int]func(s *served, r *http.Request){
	200: func(*served, *http.Request) {},
	304: func(s *served, r *http.Request) {
		tag := "ETag" // which is how it is written
		r.Header.Set("If-None-Match", s.do(r.Clone(r.Context())).Header()[tag][0])
	},
	400: func(_ *served, r *http.Request) { r.Header.Set("API-Version", "2020-01-01") },
	401: func(_ *served, r *http.Request) { r.Header.Del("Authorization") },
	402: func(_ *served, r *http.Request) { withKey(r, "key_free") },
	403: func(_ *served, r *http.Request) {
		withKey(r, map[string]string{"GET": "key_write", "POST": "key_read"}[r.Method])
	},
	404: func(_ *served, r *http.Request) {
		r.URL.Path = strings.ReplaceAll(r.URL.Path, "whe_open", "whe_none")
	},
	405: func(_ *served, r *http.Request) { r.Method = http.MethodDelete },
	409: func(_ *served, r *http.Request) {
		r.URL.Path = strings.ReplaceAll(r.URL.Path, "whe_open", "whe_closed")
	},
	413: func(_ *served, r *http.Request) { withBody(r, tooMuch) },
	422: func(s *served, r *http.Request) {
		r.Header.Set("Idempotency-Key", "used")
		s.do(r.Clone(r.Context()))
		withBody(r, 1)
	},
	429: func(s *served, r *http.Request) {
		for range 2 {
			s.do(r.Clone(r.Context()))
		}
	},
	500: func(s *served, r *http.Request) {
		s.do(r.Clone(r.Context())) // from now on the key is known
		s.store.broken = true
	},
	503: func(s *served, r *http.Request) { s.server.Shutdown(r.Context()) },
}

// tooMuch is one byte more than a body may have.
const tooMuch = 64<<10 + 1

func withKey(r *http.Request, id string) {
	r.Header.Set("Authorization", "Bearer "+id+"."+orgs.Secret)
}

func withBody(r *http.Request, size int) {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(make([]byte, size))), int64(size)
}

// breakable is a store that fails, once it is broken, in a way that nobody has foreseen.
type breakable struct {
	store.Store
	broken bool
}

var errBroken = errors.New("broken")

func (s *breakable) View(ctx context.Context, fn func(store.Tx) error) error {
	if s.broken {
		return errBroken
	}
	return s.Store.View(ctx, fn)
}

func (s *breakable) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	if s.broken {
		return errBroken
	}
	return s.Store.Update(ctx, scope, fn)
}

// opinion is what kin-openapi makes of a document.
type opinion struct{ router routers.Router }

func secondOpinion(t *testing.T, doc *openapi3.T) opinion {
	t.Helper()
	router, err := gorillamux.NewRouter(doc)
	kit.Must(t, err)
	return opinion{router}
}

func (o opinion) check(t *testing.T, r *http.Request, status int, have http.Header, body []byte) {
	t.Helper()
	if status == http.StatusMethodNotAllowed {
		r.Method = map[bool]string{true: "POST", false: "GET"}[strings.HasSuffix(r.URL.Path, "/test")]
	}
	route, params, err := o.router.FindRoute(r)
	kit.Must(t, err)
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
