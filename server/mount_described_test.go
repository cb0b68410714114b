package server

import (
	"net/http"
	"testing"

	"teamdata/admin"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/contract"
	"teamdata/store/storetest"
	"teamdata/wire/openapi"
)

// The admin API is as its description says also where it is mounted, and where it
// isn't reached for what comes before it.
func TestMountedAdminIsDescribed(t *testing.T) {
	described, err := contract.Read(openapi.Admin.JSON)
	kit.Must(t, err)
	var mounted http.Handler
	env := newTestEnv(t, Config{ClientRate: 3, Mounts: []Mount{{"/admin", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/admin/v1/plans" {
			panic("inside")
		}
		mounted.ServeHTTP(w, r)
	})}}})
	mounted = admin.New(storetest.Scoped(env, env.Store), admin.Config{Version: "1.2.3"}).Remote()
	h := contract.Watch(t, env.server.http.Handler, described.Faults)
	for _, row := range []struct {
		path string
		want int
	}{
		{"/orgs", http.StatusUnauthorized}, {"/none", http.StatusNotFound}, {"/plans", http.StatusInternalServerError}, {"/orgs", http.StatusTooManyRequests},
	} {
		env.getMounted(h, row.path, row.want)
	}
	env.server.stopping.Store(true)
	env.getMounted(h, "/orgs", http.StatusServiceUnavailable)
}

func (env *testEnv) getMounted(h http.Handler, path string, want int) {
	env.Helper()
	answer := recorded(h, newRequest("GET", "/admin/v1"+path, ""))
	if answer.Code != want {
		env.Errorf("%s: got %d, want %d", path, answer.Code, want)
	}
}
