package settings

import (
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/engines"
	"teamdata/store"
	"teamdata/store/storetest"
)

// file is a hash of the whole data file.
func (w *env) file() [sha256.Size]byte {
	w.Helper()
	engines.NeedsFile(w)
	w.backgroundDone()
	f, err := w.Store.(store.FileEngine).Snapshot(w.Context())
	kit.Must(w, err)
	defer f.Close()
	content, err := io.ReadAll(f)
	kit.Must(w, err)
	return sha256.Sum256(content)
}

// somePath is the route's path with records in it that the env holds.
func somePath(rt route) string {
	return strings.NewReplacer(":org", "org_acme", ":endpoint", "whe_1", ":delivery", "whd_1", ":key", "key_1",
		":member", "usr_grace", ":event", "evt_1", ":token", "sil_1.x", ":passkey", "pk", ":session", "ses_1", ":name", "x").Replace(rt.path)
}

// Whatever another site makes a browser send is refused, on every route, and
// changes nothing.
func TestCrossSiteIsRefused(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	refusesForged(t, w, b)
	b.get("/account").wants(t, 200)
}

// So it is where the browser sends the cookie to a frame of another site.
func TestCrossSiteIsRefusedInAFrame(t *testing.T) {
	w := newEnv(t)
	w.withFrames()
	b := w.newBrowser().inFrame()
	b.enterPortal(w.portalLink("usr_ada", store.RoleAdmin))
	refusesForged(t, w, b)
	b.get("/orgs/org_acme").wants(t, 200)
}

func refusesForged(t *testing.T, w *env, b *browser) {
	t.Helper()
	before := w.file()
	for _, rt := range routes {
		if rt.method == http.MethodGet {
			continue
		}
		for name, header := range map[string]http.Header{
			"cross-site":        {"Sec-Fetch-Site": {"cross-site"}},
			"same-site":         {"Sec-Fetch-Site": {"same-site"}},
			"origin":            {"Origin": {"https://evil.example"}},
			"the site of frame": {"Sec-Fetch-Site": {"cross-site"}, "Origin": {appOrigin}},
			"null":              {"Origin": {"null"}},
			"plain HTTP of it":  {"Origin": {"https://127.0.0.1"}},
			"cross-site, ours":  {"Sec-Fetch-Site": {"cross-site"}, "Origin": {w.server.URL}},
			"form as in a page": {"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Content-Type": {"text/plain"}},
		} {
			if got := b.forged(rt.method, somePath(rt), header); got != http.StatusForbidden {
				t.Errorf("%s %s, %s: %d", rt.method, rt.path, name, got)
			}
		}
	}
	if w.file() != before {
		t.Error("the file has changed")
	}
}

// forged sends what another site's page would.
func (b *browser) forged(method, path string, header http.Header) int {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.server.URL+Path+path, strings.NewReader("name=x"))
	kit.Must(b, err)
	r.Header = header
	res, err := b.client.Do(r)
	kit.Must(b, err)
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// A form of the page itself is taken from a browser that doesn't say Sec-Fetch-Site, also
// behind a proxy that passes the host on without its port.
func TestOriginOfThePublicURL(t *testing.T) {
	w := newEnv(t)
	for _, test := range []struct {
		public, host, origin, site string
		want                       int
	}{
		{"https://data.example:8443", "data.example", "https://data.example:8443", "", 401},
		{"https://data.example:8443", "10.0.0.5", "https://data.example:8443", "", 401},
		{"https://data.example:8443", "data.example", "https://data.example:9000", "", 403},
		{"https://data.example:8443", "data.example", "http://data.example:8443", "", 403},
		{"https://data.example:8443", "data.example", "https://data.example:8443", "cross-site", 403},
		{"", "data.example", "https://evil.example", "", 403},
	} {
		s := newSettings(storetest.Scoped(t, w.Store), Config{PublicURL: test.public, Log: zerolog.Nop()})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path+"/sign-in", strings.NewReader("name=usr_none&password=x"))
		r.Host = test.host
		r.Header.Set("Origin", test.origin)
		if test.site != "" {
			r.Header.Set("Sec-Fetch-Site", test.site)
		}
		answer := httptest.NewRecorder()
		if s.ServeHTTP(answer, r); answer.Code != test.want {
			t.Errorf("%+v: %d", test, answer.Code)
		}
	}
}

// Whoever is not signed in gets none of the pages and does none of the things but
// those of signing in.
func TestStrangersGetNothing(t *testing.T) {
	w := newEnv(t)
	before := w.file()
	open := []string{"/assets/", "/sign-in", "/forgot", "/link/", "/passkeys/sign-in/"}
	for _, rt := range routes {
		if hasAnyPrefix(rt.path, open) {
			continue
		}
		r := w.newBrowser().do(rt.method, somePath(rt), nil)
		if r.Status != 401 && (r.Status != 303 || !strings.HasPrefix(r.location(), "/settings/sign-in")) {
			t.Errorf("%s %s: %d %s", rt.method, rt.path, r.Status, r.location())
		}
	}
	if w.file() != before {
		t.Error("the file has changed")
	}
}

func hasAnyPrefix(text string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}
