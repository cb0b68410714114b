package server

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"teamdata/store"
	"teamdata/web"
)

// threeVersions has made-up older versions: in 2025-01-01 a member's userId was
// called user, and before that, in 2024-01-01, an unknown route was 410 and the
// delivery's id was in capitals.
var threeVersions = []version{
	{date: "2026-10-06"},
	{date: "2025-01-01", changes: []change{func(path string, a store.Answer) store.Answer {
		if path == "/members" {
			a.Body = bytes.ReplaceAll(a.Body, []byte(`"userId"`), []byte(`"user"`))
		}
		return a
	}}},
	{date: "2024-01-01", changes: []change{
		func(path string, a store.Answer) store.Answer {
			if path == "" && a.Status == http.StatusNotFound {
				a.Status = http.StatusGone
			}
			return a
		},
		func(path string, a store.Answer) store.Answer {
			if path == "/webhooks/:id/test" {
				a.Body = bytes.ToUpper(a.Body)
			}
			return a
		},
	}},
}

func TestOlderVersions(t *testing.T) {
	w := newWorld(t, Config{versions: threeVersions})
	for _, row := range []struct {
		path, version string
		status        int
		part          string // of the body
	}{
		{"/api/v1/members", "", 200, `"userId":"usr_ada"`},
		{"/api/v1/members", "2026-10-06", 200, `"userId":"usr_ada"`},
		{"/api/v1/members", "2025-01-01", 200, `"user":"usr_ada"`},
		{"/api/v1/members", "2024-01-01", 200, `"user":"usr_ada"`},
		{"/api/v1/audit-log", "2025-01-01", 200, `"actorId":"usr_ada"`},
		{"/api/v1/none", "2025-01-01", 404, `"notFound"`},
		{"/api/v1/none", "2024-01-01", 410, `"notFound"`},
	} {
		r, named := request("GET", row.path, "key_read"), "2026-10-06"
		if row.version != "" {
			r.Header.Set("API-Version", row.version)
			named = row.version
		}
		answer := w.do(r)
		if answer.Code != row.status || !strings.Contains(answer.Body.String(), row.part) {
			t.Errorf("%s in %q: %d %s", row.path, row.version, answer.Code, answer.Body)
		}
		if got := header(answer, "API-Version"); len(got) != 1 || got[0] != named {
			t.Errorf("%s in %q names the version %q", row.path, row.version, got)
		}
	}
}

// Every answer names the pinned version, whatever it says; the current one when
// none could be pinned.
func TestEveryAnswerNamesItsVersion(t *testing.T) {
	w := newWorld(t, Config{versions: threeVersions, KeyRate: 1})
	w.do(request("GET", "/api/v1/members", "key_team"))
	holds := func(r *http.Request, status int) {
		t.Helper()
		r.Header.Set("API-Version", "2025-01-01")
		answer := w.do(r)
		if got := header(answer, "API-Version"); answer.Code != status || len(got) != 1 || got[0] != "2025-01-01" {
			t.Errorf("got %d with API-Version %q, want %d", answer.Code, got, status)
		}
	}
	holds(request("GET", "/api/v1/members", "key_read"), http.StatusOK)
	holds(request("GET", "/api/v1/members?limit=0", "key_both"), http.StatusBadRequest)
	holds(request("GET", "/api/v1/members", ""), http.StatusUnauthorized)
	holds(request("GET", "/api/v1/members", "key_free"), http.StatusPaymentRequired)
	holds(request("GET", "/api/v1/members", "key_write"), http.StatusForbidden)
	holds(request("GET", "/api/v1/none", ""), http.StatusNotFound)
	holds(request("PUT", "/api/v1/members", ""), http.StatusMethodNotAllowed)
	holds(withBody(request("POST", "/api/v1/webhooks/whe_open/test", "key_hour"), maxBody+1), http.StatusRequestEntityTooLarge)
	holds(request("GET", "/api/v1/members", "key_team"), http.StatusTooManyRequests)
	happenings["the storage fails"](w)
	holds(request("GET", "/api/v1/members", "key_lapsed"), http.StatusServiceUnavailable)
	r := request("GET", "/api/v1/members", "key_read", "API-Version", "2023-01-01")
	if got := header(w.do(r), "API-Version"); got[0] != "2026-10-06" {
		t.Errorf("an unknown version is answered in %q", got)
	}
}

// The first answer is kept as its client saw it. Pinning another version makes
// another request of it.
func TestIdempotencyAndVersions(t *testing.T) {
	w := newWorld(t, Config{versions: threeVersions})
	ask := func(endpoint, version string) (int, string, []string) {
		r := request("POST", "/api/v1/webhooks/"+endpoint+"/test", "key_write", "Idempotency-Key", endpoint, "API-Version", version)
		answer := w.do(r)
		return answer.Code, answer.Body.String(), header(answer, "Idempotent-Replayed")
	}
	for endpoint, want := range map[string]string{"whe_open": `{"ID":"WHD_`, "whe_closed": `{"ERROR":`, "whe_none": `{"ERROR":`} {
		status, first, _ := ask(endpoint, "2024-01-01")
		if !strings.HasPrefix(first, want) {
			t.Fatalf("%s: got %d %s", endpoint, status, first)
		}
		if again, body, replayed := ask(endpoint, "2024-01-01"); again != status || body != first || replayed == nil {
			t.Errorf("%s: replayed as %d %s, %v", endpoint, again, body, replayed)
		}
		if other, _, replayed := ask(endpoint, "2025-01-01"); other != http.StatusUnprocessableEntity || replayed != nil {
			t.Errorf("%s: with another version %d", endpoint, other)
		}
	}
}

// Clients of the current version don't pay for older ones.
func TestCurrentVersionCostsNothing(t *testing.T) {
	x := &exchange{s: &Server{versions: threeVersions}}
	a := web.JSON(http.StatusOK, []byte("{}"))
	if n := testing.AllocsPerRun(100, func() { a = x.inVersion(a) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
