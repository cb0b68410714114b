package page_test

import (
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// inspectors are browsers that inspect pages side by side.
const inspectors = 2

// Every page that a link leads to, with data and without, holds to the rules of
// axe-core, light and dark, and fits every screen. The environment variable AXE is where
// axe.min.js is; SHOTS, when set, is a folder for pictures of each page, and PAGES one for
// the pages themselves.
func TestSettingsPages(t *testing.T) {
	kit.OnlyAtSize(t)
	axe, err := os.ReadFile(os.Getenv("AXE"))
	if err != nil {
		kit.MustSkip(t, "AXE names no axe.min.js; get one with: npm install axe-core")
	}
	file, cookie := settingsFile(t)
	p, base := serveSettings(t, file)
	todo := make(chan func(*tab), 1000)
	for _, a := range answers {
		todo <- func(b *tab) {
			b.open(a.path)
			b.submit(a.fields)
			b.inspect(a.path+" "+a.name, string(axe))
		}
	}
	found := crawl(p, cookie, "/settings/orgs", acme+"/endpoints/whe_slow", acme+"/endpoints/whe_slow/deliveries?state=waiting", acme+"/endpoints/whe_slow/setup?added=yes", acme+"/nowhere")
	pulled := deliveryPages(p, cookie, loaders+"/endpoints/whe_loader/deliveries")
	for _, path := range slices.Concat(found, hostilePages, pullPages, pulled, []string{"/docs", "/admin/v1/docs"}) {
		todo <- func(b *tab) {
			b.open(path)
			b.inspect(path, string(axe))
		}
	}
	todo <- func(b *tab) {
		b.open(acme + "/endpoints/whe_slow/settings")
		b.click("Disable…")
		b.await("the dialog", func() bool { return b.count("dialog[open]") == 1 })
		b.inspect("dialog", string(axe))
	}
	close(todo)
	for i := range inspectors {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			own := *p
			own.T = t
			b := openTab(t, &own, base, "--data", file)
			if i == 0 {
				b.inspectSignIn(string(axe))
			}
			b.signIn(cookie)
			for inspect := range todo {
				inspect(b)
			}
		})
	}
}

// inspectSignIn inspects the pages of people who are not signed in.
func (b *tab) inspectSignIn(axe string) {
	b.t.Helper()
	for _, path := range []string{"/settings/sign-in", "/settings/forgot", "/settings/link/none", "/settings/nowhere"} {
		b.open(path)
		b.inspect(path, axe)
	}
	b.open(b.link("usr_000"))
	b.inspect("link", axe)
	b.submit(map[string]any{"password": "short"})
	b.inspect("link refused", axe)
	b.open("/settings/sign-in")
	b.submit(map[string]any{"name": "usr_000", "password": "wrong"})
	b.inspect("sign-in refused", axe)
}

// hostilePages show what fillHostile made.
var hostilePages = []string{
	"/settings/orgs/org_hostile", "/settings/orgs/org_hostile/endpoints", "/settings/orgs/org_hostile/endpoints/whe_hostile",
	"/settings/orgs/org_hostile/keys", "/settings/orgs/org_hostile/members", "/settings/orgs/org_hostile/members/usr_hostile", "/settings/orgs/org_hostile/audit-log",
}

// answers are the pages that a form is answered with.
var answers = []struct {
	name, path string
	fields     map[string]any
}{
	{"refused", "/settings/account/password", map[string]any{"old": "wrong", "password": "short", "again": "another"}},
	{"refused", acme + "/new-endpoint", map[string]any{"url": "http://x.example/", "secretFrom": "own", "secret": "mine"}},
	{"no events", acme + "/new-endpoint", map[string]any{"url": "https://x.example/"}},
	{"refused", acme + "/endpoints/whe_slow/settings", map[string]any{"url": "https://user@x.example/"}},
	{"options refused", acme + "/new-endpoint", map[string]any{"kind": "push", "url": "https://x.example/", "events": true, "rate": "ten"}},
	{"rate refused", acme + "/endpoints/whe_slow/settings", map[string]any{"rate": "ten", "removeHeader": true, "removeFile": true, "clientKey": "lost", "ca": "lost"}},
	{"header refused", acme + "/endpoints/whe_good/settings", map[string]any{"headerName": "webhook-id", "headerValue": "x"}},
	{"refused", acme + "/endpoints/whe_slow/rotate", map[string]any{"secretFrom": "own", "secret": "mine"}},
	{"does not verify", acme + "/endpoints/whe_slow/verify", map[string]any{"headers": "webhook-id: whd_1\nwebhook-timestamp: 1\nwebhook-signature: v1,AAAA", "body": "{}"}},
	{"refused", acme + "/new-key", map[string]any{"scopes": false, "name": "a key for nothing"}},
	{"made", acme + "/new-key", map[string]any{"name": "nightly export"}},
	{"that is pulled refused", acme + "/new-endpoint", map[string]any{"kind": "pull", "description": "Loader"}},
	{"that is pulled made", loaders + "/new-endpoint", map[string]any{"kind": "pull", "description": "Another loader", "events": true}},
	{"key made", loaders + "/endpoints/whe_fresh/setup", map[string]any{}},
	{"that receives refused", loaders + "/new-key", map[string]any{"scopes": true, "endpoints": true}},
	{"refused", acme + "/new-member", map[string]any{"email": "Ada <ada@acme.example>", "role": "viewer"}},
	{"its link", acme + "/new-member", map[string]any{"email": "nina@acme.example", "name": "Nina", "role": "viewer"}},
	{"conflict", acme + "/instructions", map[string]any{"version": "0", "instructions": "Answer in French."}},
}

const acme = "/settings/orgs/org_acme"

// submit sends the form of the page that has all of some fields, with other values in them, also
// those that the browser itself would refuse.
func (b *tab) submit(fields map[string]any) {
	b.t.Helper()
	b.leave("behind the form", func() {
		evaluate[any](b, `(fields) => {
			const form = [...document.querySelectorAll("main form[method=post]")].find((form) => Object.keys(fields).every((name) => form.querySelector("[name=" + name + "]")));
			for (const [name, value] of Object.entries(fields)) {
				for (const input of form.querySelectorAll("[name=" + name + "]")) {
					if (input.type === "radio") input.checked = input.value === value;
					else if (input.type === "file") {
						const chosen = new DataTransfer();
						chosen.items.add(new File([value], "chosen.pem"));
						input.files = chosen.files;
					}
					else if (typeof value === "boolean") input.checked = value;
					else input.value = value;
				}
			}
			form.submit();
		}`, fields)
	})
}

// serveSettings serves a data file at the name localhost, as passkeys want it. The
// port has to be known before the server is there, so the socket is handed over.
func serveSettings(t *testing.T, file string, flags ...string) (p *program.Process, base string) {
	t.Helper()
	l := kit.Loopback(t)
	base = fmt.Sprintf("https://localhost:%d", l.Addr().(*net.TCPAddr).Port)
	flags = append([]string{"--data", file, "--public-url", base, "--client-rate", "0"}, flags...)
	return program.Activate(t, "$$", flags, l), base
}

// crawl follows every link to a page of its own kind, and returns their paths.
func crawl(p *program.Process, cookie string, todo ...string) (paths []string) {
	p.T.Helper()
	known := map[string]bool{}
	for ; len(todo) > 0; todo = todo[1:] {
		path, _, _ := strings.Cut(todo[0], "#")
		if kind := kindOf(path); known[kind] || !strings.HasPrefix(path, "/settings") || strings.Contains(path, "/export") || strings.Contains(path, "&") {
			continue
		} else {
			known[kind] = true
		}
		r, err := http.NewRequest("GET", p.URL+path, nil)
		kit.Must(p.T, err)
		r.Header.Set("Cookie", "__Host-teamdata="+cookie)
		res, err := p.Client.Transport.RoundTrip(r)
		kit.Must(p.T, err)
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		kit.Must(p.T, err)
		if to := res.Header.Get("Location"); to != "" {
			todo = append(todo, to)
			continue
		}
		if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
			continue
		}
		paths = append(paths, path)
		for _, link := range pageLink.FindAllStringSubmatch(string(body), -1) {
			todo = append(todo, html.UnescapeString(link[1]))
		}
	}
	if len(paths) < 30 || len(paths) > 200 {
		p.T.Fatalf("%d kinds of pages: %v", len(paths), paths)
	}
	return paths
}

var (
	pageLink = regexp.MustCompile(`<a\b[^>]*\bhref="([^"]*)"`)
	madeID   = regexp.MustCompile(`_[0-9A-HJKMNP-TV-Z]{26}|/whe_\w+/|/usr_\w+`)
	bareOrg  = regexp.MustCompile(`org_(new|lone|hostile)/`)
	ofType   = regexp.MustCompile(`/event-types/[\w.]+`)
	values   = regexp.MustCompile(`=[^&]*`)
)

// kindOf is a path without ids and the values of the query. An org with data and
// those without are two kinds.
func kindOf(path string) string {
	path = bareOrg.ReplaceAllString(madeID.ReplaceAllString(path, ""), "bare/")
	path = ofType.ReplaceAllString(path, "/event-types/any")
	return values.ReplaceAllString(path, "")
}
