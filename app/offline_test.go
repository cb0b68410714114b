package app

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"teamdata/admin"
	"teamdata/e2e/kit"
	"teamdata/store/boltstore"
)

// A handler gives the same answers in this process as over a network.
func TestInProcess(t *testing.T) {
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true})
	kit.Must(t, err)
	t.Cleanup(func() { s.Close() })
	handler := NewAdmin(s, admin.Config{Log: zerolog.Nop()}, func(*admin.Status) {}).Local()
	network := httptest.NewServer(handler)
	t.Cleanup(network.Close)
	here := &http.Client{Transport: inProcess{handler}}

	if status, _, _ := exchange(t, here, "http://teamdata", "POST", "/orgs", `{"id":"org_acme","name":"Acme"}`); status != http.StatusCreated {
		t.Fatalf("the org was answered %d", status)
	}
	for _, q := range []struct{ method, path, body string }{
		{"GET", "/orgs/org_acme", ""},
		{"GET", "/orgs?limit=1", ""},
		{"GET", "/orgs?limit=0", ""},
		{"GET", "/orgs/org_acme/instructions", ""},
		{"GET", "/nothing", ""},
		{"GET", "/orgs/org_acme/members/a%2Fb", ""},
		{"PUT", "/orgs/org_acme", ""},
		{"PATCH", "/orgs/org_acme", `{"name":"Acme"}`},
		{"PATCH", "/orgs/org_acme", `{"name":`},
		{"PATCH", "/orgs/org_acme", strings.Repeat(" ", 70<<10)},
		{"DELETE", "/orgs/org_acme/instructions", ""},
	} {
		status, header, body := exchange(t, here, "http://teamdata", q.method, q.path, q.body)
		wantStatus, wantHeader, wantBody := exchange(t, network.Client(), network.URL, q.method, q.path, q.body)
		if status != wantStatus || !bytes.Equal(body, wantBody) {
			t.Errorf("%s %s: answered %d %s, and over a network %d %s", q.method, q.path, status, body, wantStatus, wantBody)
		}
		for name := range wantHeader {
			if name != "Date" && name != "Connection" && header.Get(name) != wantHeader.Get(name) {
				t.Errorf("%s %s: %s is %q, and over a network %q", q.method, q.path, name, header.Get(name), wantHeader.Get(name))
			}
		}
	}
}

func exchange(t *testing.T, client *http.Client, base, method, path, body string) (int, http.Header, []byte) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, base+"/admin/v1"+path, strings.NewReader(body))
	kit.Must(t, err)
	a := kit.Fetch(t, client, q)
	return a.Status, a.Header, []byte(a.Body)
}

// A replay without a server is over when the data is closed. One that was interrupted
// goes on with the next.
func TestReplayOffline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "teamdata.db")
	const replays, body = "/orgs/org_acme/replays", `{"filter":{"state":"failed"}}`
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	during := func(ctx context.Context, do func(ask func(method, path, body string) string)) (said string) {
		t.Helper()
		var out bytes.Buffer
		client, end, err := Offline{Data: path, Make: true}.Admin(ctx, &out)
		kit.Must(t, err)
		do(func(method, path, body string) string {
			_, _, answer := exchange(t, client, "http://teamdata", method, path, body)
			return string(answer)
		})
		if err := end(); err != nil {
			t.Error(err)
		}
		return out.String()
	}
	said := during(interrupted, func(ask func(method, path, body string) string) {
		ask("POST", "/orgs", `{"id":"org_acme","name":"Acme"}`)
		ask("POST", replays, body)
	})
	if want := "the replay has stopped; the next `teamdata serve` continues it\n"; said != want {
		t.Errorf("it said %q, not %q", said, want)
	}
	count := func(state string, want int) {
		t.Helper()
		during(t.Context(), func(ask func(method, path, body string) string) {
			if all := ask("GET", replays, ""); strings.Count(all, `"state":"`+state+`"`) != want {
				t.Errorf("not %d are %s: %s", want, state, all)
			}
		})
	}
	count("running", 1)
	if said := during(t.Context(), func(ask func(method, path, body string) string) { ask("POST", replays, body) }); said != "" {
		t.Errorf("it said %q", said)
	}
	count("done", 2)
}
