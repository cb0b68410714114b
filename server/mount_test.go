package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"teamdata/server/clientaddr"
)

// What is below /admin/ is another handler's, behind the limit of the client.
func TestAdminIsMounted(t *testing.T) {
	seen := 0
	env := newTestEnv(t, Config{ClientRate: 2, Mounts: mounted(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if seen++; seen == 2 {
			panic("the second")
		}
		w.WriteHeader(http.StatusTeapot)
	}))})
	for i, want := range []int{http.StatusTeapot, http.StatusInternalServerError, http.StatusTooManyRequests} {
		if got := env.do(newRequest("POST", "/admin/v1/orgs", "")).Code; got != want {
			t.Errorf("request %d: got %d, want %d", i, got, want)
		}
	}
	if got := env.do(newRequest("GET", "/api/v1/members", "key_read")).Code; got != http.StatusTooManyRequests {
		t.Errorf("both APIs count for the same client; got %d", got)
	}
	env.server.stopping.Store(true)
	if got := env.do(newRequest("GET", "/admin/v1/orgs", "")).Code; got != http.StatusServiceUnavailable || seen != 2 {
		t.Errorf("while stopping: %d, and the handler saw %d requests", got, seen)
	}
}

func TestAdminIsNotMounted(t *testing.T) {
	env := newTestEnv(t, Config{})
	if got := env.do(newRequest("GET", "/admin/v1/orgs", "")).Code; got != http.StatusNotFound {
		t.Errorf("got %d", got)
	}
}

// Each answer of a server for tests says what its clock reads; no other's does.
func TestTestClock(t *testing.T) {
	for _, forTests := range []bool{false, true} {
		env := newTestEnv(t, Config{TestClock: forTests, Home: "/admin", Mounts: mounted(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })})
		env.Advance(time.Hour)
		for _, path := range []string{"/api/v1/members", "/api/v1/none", "/none", "/admin/x", "/docs", "/livez", "/readyz", "/"} {
			got := env.do(newRequest("GET", path, "key_read")).Header().Get("Teamdata-Test-Clock")
			if want := map[bool]string{true: "2026-10-06T13:00:00.000Z"}[forTests]; got != want {
				t.Errorf("GET %s says %q, want %q", path, got, want)
			}
		}
	}
}

// mounted is an API at /admin.
func mounted(h http.HandlerFunc) []Mount { return []Mount{{"/admin", h}} }

func TestMountSeesTheClient(t *testing.T) {
	proxies, err := clientaddr.Parse([]string{"192.0.2.0/24"})
	if err != nil {
		t.Fatal(err)
	}
	var seen string
	env := newTestEnv(t, Config{Proxies: proxies, Mounts: mounted(func(_ http.ResponseWriter, r *http.Request) { seen = r.RemoteAddr })})
	r := newRequest("GET", "/admin/v1/orgs", "")
	r.RemoteAddr = "192.0.2.1:1234"
	r.Header.Set("X-Forwarded-For", "198.51.100.7")
	env.do(r)
	if seen != "198.51.100.7:0" {
		t.Errorf("the mounted API saw %q", seen)
	}
}

// Who types no more than the server's name into a browser comes to people's pages.
func TestBrowserIsLedHome(t *testing.T) {
	s := New(newTestEnv(t, Config{}).Store, Config{Home: "/settings"}) // an environment holds what is answered to the description
	for _, row := range []struct {
		method, path, accept string
		want                 int
	}{
		{"GET", "/", "text/html,application/xhtml+xml,*/*;q=0.8", http.StatusFound},
		{"GET", "/", "*/*", http.StatusNotFound},
		{"GET", "/", "", http.StatusNotFound},
		{"POST", "/", "text/html", http.StatusNotFound},
		{"GET", "/x", "text/html", http.StatusNotFound},
	} {
		r := newRequest(row.method, row.path, "")
		r.Header.Set("Accept", row.accept)
		got := httptest.NewRecorder()
		s.ServeHTTP(got, r)
		if got.Code != row.want || row.want == http.StatusFound && got.Header().Get("Location") != "/settings" {
			t.Errorf("%s %s, %q: %d %s", row.method, row.path, row.accept, got.Code, got.Header().Get("Location"))
		}
	}
}

func TestMountHasItsPathsAlone(t *testing.T) {
	m := Mount{Path: "/settings"}
	for path, want := range map[string]bool{"/settings": true, "/settings/": true, "/settings/x": true, "/settingsx": false, "/": false, "": false} {
		if got := m.has(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}
