package settings

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Figures whose bound other tests exercise by the name of the constant, or that only
// limit what a page costs.
func TestFigures(t *testing.T) {
	for what, figure := range map[string][2]any{
		"a key that is not used":                  {keyUnusedFor, 30 * 24 * time.Hour},
		"people that the audit log offers":        {maxActors, 100},
		"deliveries beside a state":               {maxCounted, 99},
		"failed deliveries that are counted":      {maxFailed, 100},
		"bytes of a body that are shown":          {maxBodyShown, 64 << 10},
		"members in the side bar":                 {sideMembers, 999},
		"keys in the side bar":                    {sideKeys, 99},
		"items of a page":                         {maxShown, 50},
		"records that are read for it":            {maxSearched, 2000},
		"deliveries that a preview reads":         {maxPreviewed, 10_000},
		"a client that doesn't read an export":    {exportWrite, 30 * time.Second},
		"bytes of a time zone's name":             {maxZoneName, 64},
		"bytes of a form that is carried through": {maxDraft, 960 << 10},
	} {
		if figure[0] != figure[1] {
			t.Errorf("%s: %v, not %v", what, figure[0], figure[1])
		}
	}
}

// A form has 1 MiB, and a byte more is too much.
func TestFormSize(t *testing.T) {
	w := newEnv(t)
	for more, want := range []int{303, 413} {
		r := httptest.NewRequest(http.MethodPost, w.server.URL+Path+"/sign-out", strings.NewReader(strings.Repeat("x", 1<<20+more)))
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		rec := httptest.NewRecorder() // which awaits no client that is cut off
		if w.server.Config.Handler.ServeHTTP(rec, r); rec.Code != want {
			t.Errorf("a form of %d bytes: %d, not %d", 1<<20+more, rec.Code, want)
		}
	}
}

// A session's cookie is kept for 30 days, and what a browser is known by, or shows, for a
// year.
func TestCookiesLast(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	b := w.newBrowser()
	for cookie, reply := range map[string]reply{
		"Path=/; Max-Age=2592000;": b.signIn("usr_ada", goodPassword), "Max-Age=31536000;": b.signIn("usr_ada", goodPassword),
		"dark; Path=/; Max-Age=31536000;":                         b.post("/account/theme", url.Values{"theme": {"dark"}}),
		"hidden; Path=/settings/orgs/org_acme; Max-Age=31536000;": b.post("/orgs/org_acme/first-hour/hide", nil),
	} {
		if all := strings.Join(reply.Header.Values("Set-Cookie"), "\n"); !strings.Contains(all, cookie) {
			t.Errorf("no cookie is %s of\n%s", cookie, all)
		}
	}
}
