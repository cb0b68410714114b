package web

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"teamdata/store"
)

type named struct{ method, path string }

// A name goes before a parameter in its place, for its method alone.
func TestNameBesideParameter(t *testing.T) {
	routes := []named{{"POST", "/things/:id/test"}, {"GET", "/things/:id"}, {"POST", "/things/batch"}, {"POST", "/things"}}
	router := NewRouter("/api", "/things", routes, func(n *named) (method, path string) { return n.method, n.path },
		func(r Request, n *named) {
			if err := r.CheckRoute(); err != nil {
				r.W.Write([]byte(PublicError(err).Code + " " + store.Code(r.W.Header().Get("Allow"))))
				return
			}
			r.W.Write([]byte(n.path + " " + r.Param("id")))
		})
	for request, want := range map[named]string{
		{"POST", "/api/things/batch"}:      "/things/batch ",
		{"POST", "/api/things/batch/test"}: "/things/:id/test batch",
		{"GET", "/api/things/batch"}:       "/things/:id batch",
		{"PUT", "/api/things/batch"}:       "methodNotAllowed GET, HEAD, POST",
		{"POST", "/api/things/batches"}:    "methodNotAllowed GET, HEAD",
		{"POST", "/api/things/"}:           "notFound ",
		{"POST", "/api/things"}:            "/things ",
	} {
		answer := httptest.NewRecorder()
		router.ServeHTTP(answer, httptest.NewRequest(request.method, request.path, nil))
		if got := answer.Body.String(); got != want {
			t.Errorf("%s %s: %q, want %q", request.method, request.path, got, want)
		}
	}
}

// An escaped slash makes an unknown path of any, whatever the method.
func TestEscapedSlash(t *testing.T) {
	routes := []named{{"POST", "/things/:id/test"}, {"GET", "/things/:id"}}
	router := NewRouter("/api", "/things", routes, func(n *named) (method, path string) { return n.method, n.path },
		func(r Request, _ *named) {
			status := http.StatusOK
			if err := r.CheckRoute(); err != nil {
				status = PublicError(err).Code.Status()
			}
			r.WriteHeader(status)
		})
	for request, want := range map[named]int{
		{"POST", "/api/things/1/test"}:   200,
		{"POST", "/api/things/1%2Ftest"}: 404,
		{"POST", "/api/things%2f1/test"}: 404,
		{"GET", "/api/things/1/test"}:    405,
		{"GET", "/api/things/1%2ftest"}:  404,
		{"GET", "/api/things/%312"}:      200,
		{"GET", "/api/things/a%252Fb"}:   200, // the name a%2Fb
	} {
		answer := httptest.NewRecorder()
		router.ServeHTTP(answer, httptest.NewRequest(request.method, request.path, nil))
		if answer.Code != want {
			t.Errorf("%s %s: %d, want %d", request.method, request.path, answer.Code, want)
		}
	}
}
