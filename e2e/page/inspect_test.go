package page_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
)

// screens are the ways in which each page is inspected.
var screens = []struct {
	width    int64 // in pixels
	scale    float64
	scheme   string
	rules    []any // of axe-core; nil: it is not run
	pictured bool
}{
	{1280, 1, "light", everyRule, true},
	{1280, 1, "dark", colours, true},
	{1920, 1, "dark", nil, false},
	{1920, 1, "light", nil, false},
	{640, 2, "light", nil, false}, // 1280 at 200 %
	{768, 1, "light", keyboard, false},
	{768, 1, "dark", nil, false},
	{375, 1, "dark", colours, false},
	{375, 1, "light", everyRule, true},
	{320, 1, "light", nil, false}, // the smallest phone
}

// In the dark nothing but colours differs; on a tablet wide tables scroll.
var (
	everyRule = []any{"wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"}
	colours   = []any{"color-contrast", "link-in-text-block"}
	keyboard  = []any{"scrollable-region-focusable", "target-size"}
)

// inspect looks at the page in each way, and writes it and pictures of it to the folders
// that are set.
func (b *tab) inspect(name, axe string) {
	b.t.Helper()
	evaluate[any](b, "() => { "+axe+" }")
	for _, s := range screens {
		b.emulate(s.scheme, s.width, s.scale)
		shown := fmt.Sprintf("%s at %d %s", name, s.width, s.scheme)
		if width, _ := evaluate[int64](b, `() => document.documentElement.scrollWidth`); width > s.width {
			b.t.Errorf("%s is %d pixels wide: %v", shown, width, b.tooWide(s.width))
		}
		if crowded, _ := evaluate[[]string](b, findCrowded); len(crowded) > 0 {
			b.t.Errorf("%s is crowded: %q", shown, crowded)
		}
		if s.rules != nil {
			b.check(shown, s.rules)
		}
		if folder := os.Getenv("SHOTS"); folder != "" && s.pictured {
			b.picture(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", fileName(name), s.width, s.scheme)))
		}
	}
	if folder := os.Getenv("PAGES"); folder != "" {
		b.save(filepath.Join(folder, fileName(name)+".html"))
	}
}

// tooWide are the first of the innermost elements that leave a screen to the right.
func (b *tab) tooWide(width int64) []string {
	found, _ := evaluate[[]string](b, `(width) => [...document.querySelectorAll("body *")]
		.filter((el) => el.getBoundingClientRect().right > width + 1 && ![...el.children].some((c) => c.getBoundingClientRect().right > width + 1))
		.slice(0, 3).map((el) => el.outerHTML.slice(0, 160))`, width)
	return found
}

// check holds the page to some rules of axe-core, which is in the page.
func (b *tab) check(name string, rules []any) {
	b.t.Helper()
	const run = `async (...rules) => (await Promise.all(document.getAnimations().map((a) => a.finished)), await axe.run(document, { runOnly: rules, resultTypes: ["violations"] }))
		.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 200) + " " + (n.any[0] ?? n.all[0] ?? n.none[0])?.message))`
	found, ok := evaluate[[]string](b, run, rules...)
	if !ok {
		b.t.Fatalf("axe-core does not run on %s", name)
	}
	slices.Sort(found)
	for _, text := range slices.Compact(found) {
		b.t.Errorf("%s: %s", name, text)
	}
}

// emulate sets how the page is shown: without motion, which would blur colours.
func (b *tab) emulate(scheme string, width int64, scale float64) {
	send(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	send(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 800, DeviceScaleFactor: scale, Mobile: width < 600})
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

// save writes the page as the server sent it.
func (b *tab) save(file string) {
	b.t.Helper()
	b.mu.Lock()
	id := b.request
	b.mu.Unlock()
	type body struct {
		Body string `json:"body"`
	}
	r := send(b, cdp.Command[network.GetResponseBodyParams, body]{Method: network.CommandGetResponseBody}, network.GetResponseBodyParams{RequestID: id})
	if err := os.WriteFile(file, []byte(r.Body), 0o600); err != nil {
		b.t.Fatal(fmt.Errorf("a page: %w", err))
	}
}

// fileName is the name of a page as that of a file.
func fileName(page string) string {
	return strings.Trim(regexp.MustCompile(`[^\w.-]+`).ReplaceAllString(strings.TrimPrefix(page, "/settings/"), "_"), "_")
}
