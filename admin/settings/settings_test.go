package settings

import (
	"bytes"
	"cmp"
	"maps"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/admin/settings/signin"
	"teamdata/wire/web"
)

func TestHomeAsksToSignIn(t *testing.T) {
	r := newEnv(t).newBrowser().get("")
	if r.Status != 303 || r.location() != "/settings/sign-in" {
		t.Errorf("got %d %s", r.Status, r.location())
	}
}

func TestNoSuchPage(t *testing.T) {
	newEnv(t).signedIn("usr_ada").get("/nowhere").wants(t, 404, "Page not found")
}

// A panic is a 500 that says nothing, and is in the log.
func TestPanic(t *testing.T) {
	var log bytes.Buffer
	s := New(newEnv(t).Store, Config{Log: zerolog.New(&log)})
	answer := httptest.NewRecorder()
	s.serve(web.Request{W: answer, HTTP: httptest.NewRequest("GET", "/settings/panic", nil)}, &route{"GET", "/panic", func(*request) error { panic("inner text") }, anyone})
	if body := answer.Body.String(); answer.Code != 500 || strings.Contains(body, "inner") || !strings.Contains(body, "Something went wrong") {
		t.Errorf("got %d %s", answer.Code, body)
	}
	if said := log.String(); !strings.Contains(said, "inner text") || !strings.Contains(said, "settings_test.go") {
		t.Error(said)
	}
}

// Each page of a server for tests says so, that of an error too; no other does.
func TestTestClock(t *testing.T) {
	const says = "A server for tests.</strong> Its test clock reads"
	env := newEnv(t)
	if page := env.newBrowser().get("/sign-in"); strings.Contains(page.Body, says) {
		t.Errorf("a server without a test clock says that it is for tests:\n%s", page.Body)
	}
	env.restart(func(c *Config) { c.TestClock = env.Now })
	env.newBrowser().get("/sign-in").wants(t, 200, says)
	b := env.signedIn("usr_ada")
	b.get("/orgs/org_acme").wants(t, 200, says+` <time datetime="2026-10-06T12:00:00.000Z"`)
	env.Advance(time.Hour)
	b.get("/nowhere").wants(t, 404, says+` <time datetime="2026-10-06T13:00:00.000Z"`)
}

var menuLink = regexp.MustCompile(`<li><a href="/settings(/orgs/org_acme/?([^"]*))"`)

// The menu of an org has the sections that the pages below an org belong to, and
// no others, and leads to a page of each.
func TestMenuHasEverySection(t *testing.T) {
	b, menu, sections := newEnv(t).signedIn("usr_ada"), map[string]bool{}, map[string]bool{}
	nav, _, _ := strings.Cut(b.get("/orgs/org_acme").Body, "</nav>")
	for _, m := range menuLink.FindAllStringSubmatch(nav, -1) {
		menu[cmp.Or(m[2], "overview")] = true
		b.get(m[1]).wants(t, 200, `href="/settings`+m[1]+`" aria-current="page"`)
	}
	for _, rt := range routes {
		if strings.HasPrefix(rt.path, "/orgs/:org") {
			sections[(&request{Request: signin.Request{Request: web.Request{Pattern: Path + rt.path}}}).section()] = true
		}
	}
	if !maps.Equal(menu, sections) {
		t.Errorf("the menu in layout.html has %v, and the routes belong to %v", menu, sections)
	}
}
