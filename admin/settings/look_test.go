package settings

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/wire/look"
)

var loaded = regexp.MustCompile(`<(?:link|script)[^>]* (?:href|src)="(/[^"]*)"`)

// A first visit loads the page, a style, a script and a font: at most 60 KB.
func TestFirstVisit(t *testing.T) {
	b := newEnv(t).signedIn("usr_ada")
	for _, path := range []string{"/orgs/org_acme", "/orgs/org_acme/endpoints", "/account"} {
		page := b.get(path)
		page.wants(t, 200)
		requests, bytes := 1, len(page.Body)
		for _, m := range loaded.FindAllStringSubmatch(page.Body, -1) {
			requests++
			bytes += len(b.compressed(m[1]))
		}
		if requests > 4 || bytes > 60_000 {
			t.Errorf("%s: %d requests, %d bytes", path, requests, bytes)
		}
		t.Logf("%s: %d requests, %d bytes", path, requests, bytes)
	}
}

var (
	cssOther = regexp.MustCompile(`(?s)/\*.*?\*/|url\([^)]*\)`) // what a class is not in
	cssClass = regexp.MustCompile(`\.(-?[A-Za-z_][\w-]*)`)
	anyWord  = regexp.MustCompile(`[\w-]+`)
)

// composedClass begins the classes that a template ends with the id of a sample.
const composedClass = "sample-"

// Every class of the style is written, as a whole word, in what makes pages.
func TestEachClassIsUsed(t *testing.T) {
	used := map[string]bool{}
	for _, pattern := range []string{"templates/*.html", "templates/*.svg", "*.go", "assets/*.js"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, word := range anyWord.FindAllString(readFile(t, file), -1) {
				used[word] = true
			}
		}
	}
	style := cssOther.ReplaceAllString(look.CSS, "")
	classes := cssClass.FindAllStringSubmatch(style, -1)
	if len(classes) < 100 {
		t.Fatalf("only %d classes are found", len(classes))
	}
	for _, m := range classes {
		if !used[m[1]] && !strings.HasPrefix(m[1], composedClass) {
			t.Errorf("look.css: nothing has the class %s", m[1])
		}
	}
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	return kit.ReadText(t, file)
}

// compressed is an asset as it is sent to a browser.
func (b *browser) compressed(path string) string {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, b.server.URL+path, nil)
	kit.Must(b, err)
	r.Header.Set("Accept-Encoding", "gzip, br")
	got := kit.Fetch(b, b.client, r)
	if got.Status != 200 || !strings.Contains(got.Header.Get("Cache-Control"), "immutable") {
		b.Fatalf("%s: %d, %v", path, got.Status, got.Header)
	}
	if got.Header.Get("Content-Encoding") == "gzip" {
		plain, err := gzip.NewReader(strings.NewReader(got.Body))
		kit.Must(b, err)
		if all, err := io.ReadAll(plain); err != nil || string(all) != b.get(strings.TrimPrefix(path, Path)).Body {
			b.Errorf("%s: compressed it is another, %v", path, err)
		}
	}
	return got.Body
}

// The colours are the browser's choice, and the page is where it was.
func TestTheme(t *testing.T) {
	b := newEnv(t).signedIn("usr_ada")
	got := b.post("/account/theme", url.Values{"theme": {"dark"}, "next": {"/settings/orgs/org_acme/keys"}})
	if got.location() != "/settings/orgs/org_acme/keys" {
		t.Errorf("leads to %q", got.location())
	}
	b.get("/orgs/org_acme").wants(t, 200, ` data-theme="dark"`)
	b.post("/account/theme", url.Values{"theme": {"auto"}, "next": {"https://evil.example/"}})
	if page := b.get("/orgs/org_acme"); strings.Contains(page.Body, "data-theme") {
		t.Error("the choice was not undone")
	}
}

// A page that isn't there keeps the navigation of the person's org, and tells nothing
// of another.
func TestNavigationOfNoPage(t *testing.T) {
	b := newEnv(t).signedIn("usr_alan")
	for _, path := range []string{"/orgs/org_acme/nothing", "/orgs/org_acme/keys/key_none"} {
		b.get(path).wants(t, 404, `aria-label="Sections of acme"`)
	}
	for _, path := range []string{"/orgs/org_other/nothing", "/orgs/org_other", "/nothing"} {
		page := b.get(path)
		page.wants(t, 404, `aria-label="Your orgs"`)
		if strings.Contains(page.Body, "other</bdi>") {
			t.Errorf("%s names the other org", path)
		}
	}
}
