package app

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"teamdata/admin"
	"teamdata/store/boltstore"
)

// A handler gives the same answers in this process as over a network.
func TestInProcess(t *testing.T) {
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	r, err := client.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	answered, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, r.Header, answered
}
