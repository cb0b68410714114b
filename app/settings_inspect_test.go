package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
)

// screens are the ways in which each page is inspected.
var screens = []struct {
	name, scheme string
	width        int64
	rules        []any // of axe-core
}{
	{"desktop-light", "light", 1280, everyRule},
	{"desktop-dark", "dark", 1280, colours},
	{"phone-light", "light", 390, everyRule},
	{"phone-dark", "dark", 390, colours},
}

// In the dark nothing but colours differs.
var (
	everyRule = []any{"wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"}
	colours   = []any{"color-contrast", "link-in-text-block"}
)

// smallest is the width of the smallest phone, in pixels.
const smallest = 320

// inspect looks at the page in each way.
func (b *tab) inspect(name, axe string) {
	b.t.Helper()
	for _, s := range screens {
		b.emulate(s.scheme, s.width)
		b.check(name+" "+s.name, axe, s.rules)
		if folder := os.Getenv("SCREENSHOTS"); folder != "" {
			b.picture(filepath.Join(folder, strings.Trim(regexp.MustCompile(`[^\w.-]+`).ReplaceAllString(name, "_"), "_")+"-"+s.name+".png"))
		}
	}
	b.emulate("light", smallest)
	if width, _ := evaluate[int](b, `() => document.documentElement.scrollWidth`); width != smallest {
		b.t.Errorf("%s is %d pixels wide on a screen of %d", name, width, smallest)
	}
}

// check holds the page to some rules of axe-core.
func (b *tab) check(name, axe string, rules []any) {
	b.t.Helper()
	evaluate[any](b, "() => { "+axe+" }")
	const run = `async (...rules) => (await axe.run(document, { runOnly: rules }))
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
func (b *tab) emulate(scheme string, width int64) {
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
