package app_test

import (
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"

	"teamdata/internal/testkit"
)

// Every page that a link leads to, with data and without, holds to the rules of
// axe-core, light and dark, on a desktop and on a phone, and fits the smallest
// one. The environment variable AXE is where axe.min.js is; SCREENSHOTS, when set,
// is a folder for a picture of each.
func TestSettingsPages(t *testing.T) {
	if !*testkit.Full {
		t.Skip("runs with -full")
	}
	axe, err := os.ReadFile(os.Getenv("AXE"))
	if err != nil {
		testkit.MustSkip(t, "AXE names no axe.min.js; get one with: npm install axe-core")
	}
	file, cookie := settingsFile(t)
	p, base := serveSettings(t, file)
	b := openTab(t, p, base, "--data", file)
	for _, path := range []string{"/settings/sign-in", "/settings/forgot", "/settings/link/none", "/settings/nowhere"} {
		b.open(path)
		b.inspect(path, string(axe))
	}
	b.open(b.link("usr_000"))
	b.inspect("link", string(axe))
	b.submit(map[string]any{"password": "short", "again": "another"})
	b.inspect("link refused", string(axe))
	b.open("/settings/sign-in")
	b.submit(map[string]any{"name": "usr_000", "password": "wrong"})
	b.inspect("sign-in refused", string(axe))
	b.signIn(cookie)
	for _, a := range answers {
		b.open(a.path)
		b.submit(a.fields)
		b.inspect(a.path+" "+a.name, string(axe))
	}
	for _, path := range b.crawl("/settings/orgs", acme+"/endpoints/whe_slow", acme+"/endpoints/whe_slow/deliveries?state=waiting") {
		b.open(path)
		b.inspect(path, string(axe))
	}
}

// answers are the pages that a form is answered with.
var answers = []struct {
	name, path string
	fields     map[string]any
}{
	{"refused", "/settings/account/password", map[string]any{"old": "wrong", "password": "short", "again": "another"}},
	{"refused", acme + "/new-endpoint", map[string]any{"url": "http://x.example/", "secret": "mine"}},
	{"no events", acme + "/new-endpoint", map[string]any{"url": "https://x.example/"}},
	{"refused", acme + "/endpoints/whe_slow/edit", map[string]any{"url": "https://user@x.example/"}},
	{"refused", acme + "/endpoints/whe_slow/rotate", map[string]any{"secret": "mine"}},
	{"refused", acme + "/endpoints/whe_slow/recover", map[string]any{"span": "since", "since": ""}},
	{"does not verify", acme + "/endpoints/whe_slow/verify", map[string]any{"headers": "webhook-id: whd_1\nwebhook-timestamp: 1\nwebhook-signature: v1,AAAA", "body": "{}"}},
	{"refused", acme + "/new-key", map[string]any{"scopes": false, "name": "a key for nothing"}},
	{"made", acme + "/new-key", map[string]any{"name": "nightly export"}},
	{"conflict", acme + "/instructions", map[string]any{"version": "0", "instructions": "Answer in French."}},
}

const acme = "/settings/orgs/org_acme"

// submit sends the form of the page with other values in some fields, also those
// that the browser itself would refuse.
func (b *tab) submit(fields map[string]any) {
	b.t.Helper()
	b.leave("behind the form", func() {
		evaluate[any](b, `(fields) => {
			const form = document.querySelector("main form[method=post]");
			for (const [name, value] of Object.entries(fields)) {
				for (const input of form.querySelectorAll("[name=" + name + "]")) {
					if (input.type === "radio") input.checked = input.value === value;
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
func serveSettings(t *testing.T, file string, flags ...string) (p *testkit.Process, base string) {
	t.Helper()
	l := testkit.Loopback(t)
	base = fmt.Sprintf("https://localhost:%d", l.Addr().(*net.TCPAddr).Port)
	flags = append([]string{"--data", file, "--public-url", base, "--client-rate", "0"}, flags...)
	return activateWith(t, "$$", flags, l), base
}

// crawl follows every link to a page of its own kind, and returns their paths.
func (b *tab) crawl(todo ...string) (paths []string) {
	b.t.Helper()
	const links = `() => [...document.querySelectorAll("a[href]:not([href*='/export'])")].map((a) => a.getAttribute("href").split("#")[0])`
	known := map[string]bool{}
	for ; len(todo) > 0; todo = todo[1:] {
		if kind := kindOf(todo[0]); known[kind] || !strings.HasPrefix(todo[0], "/settings") {
			continue
		} else {
			known[kind] = true
		}
		paths = append(paths, todo[0])
		b.open(todo[0])
		found, ok := evaluate[[]string](b, links)
		if !ok {
			b.t.Fatalf("%s has no links", todo[0])
		}
		todo = append(todo, found...)
	}
	if len(paths) > 200 {
		b.t.Fatalf("%d kinds of pages: %v", len(paths), paths)
	}
	return paths
}

var (
	madeID  = regexp.MustCompile(`_[0-9A-HJKMNP-TV-Z]{26}|/whe_\w+/`)
	bareOrg = regexp.MustCompile(`org_(new|lone)/`)
	values  = regexp.MustCompile(`=[^&]*`)
)

// kindOf is a path without ids and the values of the query. An org with data and
// those without are two kinds.
func kindOf(path string) string {
	path = bareOrg.ReplaceAllString(madeID.ReplaceAllString(path, ""), "bare/")
	return values.ReplaceAllString(path, "")
}
