package command

import (
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

// What the page can't be shown with is refused at the start, with what to do instead.
func TestSettingsPageFlags(t *testing.T) {
	dir := t.TempDir()
	html, large := filepath.Join(dir, "logo.html"), filepath.Join(dir, "large.svg")
	kit.WriteFile(t, html, "<html></html>")
	kit.WriteFile(t, large, `<svg xmlns="http://www.w3.org/2000/svg">`+strings.Repeat(" ", 16<<10)+"</svg>")
	serveRefuses(t, exitUsage, map[string]refusal{
		"frames over HTTP":   {[]string{"--http", "--frame-ancestors", "https://app.example"}, "--frame-ancestors needs HTTPS.*--public-url https://"},
		"a public HTTP URL":  {[]string{"--public-url", "http://data.example.com", "--frame-ancestors", "self"}, "--frame-ancestors needs HTTPS"},
		"an HTTP origin":     {[]string{"--frame-ancestors", "http://app.example"}, `--frame-ancestors: "http://app.example" is not an origin; give the scheme and host`},
		"an origin's path":   {[]string{"--frame-ancestors", "https://app.example/"}, "is not an origin"},
		"any origin":         {[]string{"--frame-ancestors", "*"}, "is not an origin"},
		"any subdomain":      {[]string{"--frame-ancestors", "https://*.example"}, "is not an origin"},
		"another directive":  {[]string{"--frame-ancestors", "https://app.example; script-src *"}, "is not an origin"},
		"one of two origins": {[]string{"--frame-ancestors", "https://app.example,app.example"}, `"app.example" is not an origin`},
		"a long name":        {[]string{"--brand-name", strings.Repeat("x", 41)}, "--brand-name: .* is not a valid name for the page; give 1 to 40 characters"},
		"a word as colour":   {[]string{"--brand-colour", "teal"}, `--brand-colour: "teal" is not a colour; give it as # and six digits`},
		"no logo":            {[]string{"--brand-logo", "nowhere.svg"}, "--brand-logo: open nowhere.svg: .*give the path"},
		"a page as logo":     {[]string{"--brand-logo", html}, "--brand-logo: .*logo.html is neither an SVG nor a PNG image"},
		"a large logo":       {[]string{"--brand-logo", large}, "--brand-logo: .*large.svg is larger than 16 KiB"},
	}, leftNothing)
}
