package server

import (
	"crypto/tls"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"teamdata/store"
)

func TestDocs(t *testing.T) {
	env := newTestEnv(t, Config{})
	const command = "curl &#39;http://data.example.com:8443/api/v1/members?limit=2&#39;"
	for path, shows := range map[string]string{
		"/docs": command, "/docs/": command,
		"/docs/guide": "<h1>Start", "/docs/guide/": "<h1>Start", "/docs/guide/webhooks": "<h1>Receiving webhooks</h1>",
	} {
		r := newRequest("GET", path, "")
		r.Host = "data.example.com:8443"
		answer := env.do(r)
		page := answer.Body.String()
		if answer.Code != http.StatusOK || !strings.Contains(page, shows) {
			t.Errorf("%s: got %d %s", path, answer.Code, page)
		}
		for name, want := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache", "Referrer-Policy": "no-referrer",
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		} {
			if got := header(answer, name); len(got) != 1 || got[0] != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
	if r := env.do(newRequest("GET", "/docs/guide/start", "")); r.Code != http.StatusPermanentRedirect || r.Header().Get("Location") != "/docs/guide" {
		t.Errorf("the start page by its name: %d %v", r.Code, r.Header())
	}
	font := env.do(newRequest("GET", "/docs/inter.woff2", ""))
	if font.Code != http.StatusOK || font.Header()["Content-Type"][0] != "font/woff2" || !strings.HasPrefix(font.Body.String(), "wOF2") {
		t.Errorf("the font: %d %v", font.Code, font.Header())
	}
	style := env.do(newRequest("GET", "/docs/style.css", ""))
	if style.Code != http.StatusOK || style.Header()["Content-Type"][0] != "text/css; charset=utf-8" || style.Body.Len() == 0 {
		t.Errorf("the style sheet: %d %v", style.Code, style.Header())
	}
}

// The page names the address that was set, else the one that was asked for; and
// nothing of a request that doesn't belong into a command.
func TestDocsNameTheServer(t *testing.T) {
	for _, row := range []struct {
		set, host string
		secure    bool
		want      string
	}{
		{"", "data.example.com", true, "https://data.example.com"},
		{"", "[::1]:8443", false, "http://[::1]:8443"},
		{"", "a$(id)", true, "https://localhost"},
		{"", "a'b", true, "https://localhost"},
		{"", "<b>", true, "https://localhost"},
		{"", "", true, "https://localhost"},
		{"https://public.example.com", "inner:80", false, "https://public.example.com"},
	} {
		env := newTestEnv(t, Config{Address: row.set})
		r := newRequest("GET", "/docs", "")
		if r.Host = row.host; row.secure {
			r.TLS = &tls.ConnectionState{}
		}
		page := env.do(r).Body.String()
		found := regexp.MustCompile(`curl (-X POST )?&#39;(https?://[^/]*)/(api/v1|pull)/`).FindAllStringSubmatch(page, -1)
		if len(found) != 4+4 {
			t.Fatalf("%d commands", len(found))
		}
		for _, m := range found {
			if m[2] != row.want {
				t.Errorf("%q, asked at %q: %s, want %s", row.set, row.host, m[2], row.want)
			}
		}
	}
}

func TestDocsAreCached(t *testing.T) {
	env := newTestEnv(t, Config{})
	for _, path := range []string{"/docs", "/docs/style.css", "/docs/guide"} {
		r := newRequest("GET", path, "")
		etag := header(env.do(r), "ETag")[0]
		r.Header.Set("If-None-Match", etag)
		if again := env.do(r); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s: %d, %d bytes", path, again.Code, again.Body.Len())
		}
		if r.Host = "other.example"; path == "/docs" && env.do(r).Code != http.StatusOK {
			t.Error("another address has the same entity tag")
		}
	}
}

func TestDocsRefuse(t *testing.T) {
	env := newTestEnv(t, Config{ClientRate: 8})
	for i, row := range []struct {
		method, path string
		want         store.Code
	}{
		{"GET", "/docs/none", store.CodeNotFound},
		{"GET", "/docs/guide/none", store.CodeNotFound},
		{"GET", "/docs/guide/webhooks.md", store.CodeNotFound},
		{"GET", "/docs/guidebook", store.CodeNotFound},
		{"POST", "/docs/guide/webhooks", store.CodeMethodNotAllowed},
		{"POST", "/docs", store.CodeMethodNotAllowed},
		{"DELETE", "/docs/style.css", store.CodeMethodNotAllowed},
		{"HEAD", "/docs", ""},
		{"GET", "/docs", store.CodeRateLimited},
	} {
		answer := env.do(newRequest(row.method, row.path, ""))
		if want := row.want.Status(); row.want != "" && (answer.Code != want || !strings.Contains(answer.Body.String(), `"`+string(row.want)+`"`)) {
			t.Errorf("row %d: got %d %s", i, answer.Code, answer.Body)
		}
		if row.want == "" && answer.Code != http.StatusOK {
			t.Errorf("row %d: got %d", i, answer.Code)
		}
	}
}
