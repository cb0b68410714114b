package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
)

// screens are the ways in which each page is looked at.
var screens = []struct {
	name, scheme string
	width        int64
}{
	{"desktop-light", "light", 1280},
	{"desktop-dark", "dark", 1280},
	{"phone-light", "light", 390},
	{"phone-dark", "dark", 390},
}

// smallest is the width of the smallest phone, in pixels.
const smallest = 320

// Every page that a link leads to, with data and without, holds to the rules of
// axe-core, light and dark, on a desktop and on a phone, and fits the smallest
// one. The environment variable AXE is where axe.min.js is; SCREENSHOTS, when set,
// is a folder for a picture of each.
func TestSettingsPages(t *testing.T) {
	if !*full {
		t.Skip("runs with -full")
	}
	axe, err := os.ReadFile(os.Getenv("AXE"))
	if err != nil {
		mustSkip(t, "AXE names no axe.min.js; get one with: npm install axe-core")
	}
	file, cookie := settingsFile(t)
	p, base := serveSettings(t, file)
	b := openTab(t, p, base, file)
	for _, path := range []string{"/settings/sign-in", "/settings/forgot", "/settings/link/none", "/settings/nowhere"} {
		b.open(path)
		b.inspect(path, string(axe))
	}
	b.signIn(cookie)
	for _, path := range b.crawl("/settings/orgs", "/settings/orgs/org_acme/webhooks/whe_slow", "/settings/orgs/org_acme/webhooks/whe_slow/deliveries") {
		b.open(path)
		b.inspect(path, string(axe))
	}
}

// serveSettings serves a data file at the name localhost, as passkeys want it.
func serveSettings(t testing.TB, file string, flags ...string) (p *process, base string) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	_, port, _ := net.SplitHostPort(free.Addr().String())
	base = "https://localhost:" + port
	p = serveProcess(t, file, append([]string{"--listen", "127.0.0.1:" + port, "--public-url", base, "--client-rate", "0"}, flags...)...)
	return p, base
}

// crawl follows every link to a page of its own kind, and returns their paths.
func (b *tab) crawl(todo ...string) (paths []string) {
	b.t.Helper()
	const links = `() => [...document.querySelectorAll("a[href]:not([download])")].map((a) => a.getAttribute("href").split("#")[0])`
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
	madeID = regexp.MustCompile(`_[0-9A-HJKMNP-TV-Z]{26}|/whe_\w+/`)
	values = regexp.MustCompile(`=[^&]*`)
)

// kindOf is a path without the ids and the values of the query.
func kindOf(path string) string {
	return values.ReplaceAllString(madeID.ReplaceAllString(path, ""), "")
}

// inspect looks at the page in each way.
func (b *tab) inspect(name, axe string) {
	b.t.Helper()
	for _, s := range screens {
		b.look(s.scheme, s.width)
		b.check(name+" "+s.name, axe)
		if folder := os.Getenv("SCREENSHOTS"); folder != "" {
			b.picture(filepath.Join(folder, strings.Trim(regexp.MustCompile(`[^\w.-]+`).ReplaceAllString(name, "_"), "_")+"-"+s.name+".png"))
		}
	}
	b.look("light", smallest)
	if width, _ := evaluate[int](b, `() => document.documentElement.scrollWidth`); width != smallest {
		b.t.Errorf("%s is %d pixels wide on a screen of %d", name, width, smallest)
	}
}

// check runs axe-core on the page.
func (b *tab) check(name, axe string) {
	b.t.Helper()
	evaluate[any](b, "() => { "+axe+" }")
	const run = `async () => (await axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }))
		.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 200) + " " + (n.any[0] ?? n.all[0] ?? n.none[0])?.message))`
	found, ok := evaluate[[]string](b, run)
	if !ok {
		b.t.Fatalf("axe-core does not run on %s", name)
	}
	slices.Sort(found)
	for _, text := range slices.Compact(found) {
		b.t.Errorf("%s: %s", name, text)
	}
}

// look sets how the page is looked at: without motion, which would blur colours.
func (b *tab) look(scheme string, width int64) {
	send(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	send(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 600})
}

// picture writes a picture of the whole page.
func (b *tab) picture(file string) {
	b.t.Helper()
	yes := true
	r := send(b, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{CaptureBeyondViewport: &yes})
	if err := os.WriteFile(file, r.Data, 0o600); err != nil {
		b.t.Fatal(fmt.Errorf("the picture of a page: %w", err))
	}
}
