package server

import (
	"net/http"
	"testing"
)

// What is below /admin/ is another handler's, behind the limit of the client.
func TestAdminIsMounted(t *testing.T) {
	seen := 0
	w := newWorld(t, Config{ClientRate: 2, Admin: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if seen++; seen == 2 {
			panic("the second")
		}
		w.WriteHeader(http.StatusTeapot)
	})})
	for i, want := range []int{http.StatusTeapot, http.StatusInternalServerError, http.StatusTooManyRequests} {
		if got := w.do(request("POST", "/admin/v1/orgs", "")).Code; got != want {
			t.Errorf("request %d: got %d, want %d", i, got, want)
		}
	}
	if got := w.do(request("GET", "/api/v1/members", "key_read")).Code; got != http.StatusTooManyRequests {
		t.Errorf("both faces count for the same client; got %d", got)
	}
	w.server.stopping.Store(true)
	if got := w.do(request("GET", "/admin/v1/orgs", "")).Code; got != http.StatusServiceUnavailable || seen != 2 {
		t.Errorf("while stopping: %d, and the handler saw %d requests", got, seen)
	}
}

func TestAdminIsNotMounted(t *testing.T) {
	w := newWorld(t, Config{})
	if got := w.do(request("GET", "/admin/v1/orgs", "")).Code; got != http.StatusNotFound {
		t.Errorf("got %d", got)
	}
}
