package page_test

import (
	"os"
	"testing"

	"teamdata/docs"
	"teamdata/e2e/kit"
)

// Every guide holds to the rules of axe-core, light and dark, and fits every screen. The
// environment variables are those of TestSettingsPages.
func TestGuidePages(t *testing.T) {
	kit.OnlyAtSize(t)
	axe, err := os.ReadFile(os.Getenv("AXE"))
	if err != nil {
		kit.MustSkip(t, "AXE names no axe.min.js; get one with: npm install axe-core")
	}
	file, _ := settingsFile(t)
	p, base := serveSettings(t, file)
	b := openTab(t, p, base, "--data", file)
	for _, page := range docs.Pages() {
		b.open(page.Path())
		b.inspect(page.Path(), string(axe))
	}
}
