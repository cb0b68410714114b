package settings

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"teamdata/wire/look"
)

const (
	logoSVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><script>alert(1)</script><rect width="8" height="8" fill="#0a7d5a"/></svg>`
	logoPNG = "\x89PNG\r\n\x1a\n\x00"
)

// A brand's name is in the title and on every page, its colour in the style sheet, and
// its logo an image that can run nothing even when it is opened by itself.
func TestBrand(t *testing.T) {
	w := newEnv(t)
	plain := w.newBrowser().get("/sign-in")
	plain.wants(t, 200, "· teamdata</title>", "<bdi>teamdata</bdi>")
	w.restart(func(c *Config) { c.Brand = Brand{Name: "Åcme & <Co>", Colour: "#ffcc00", Logo: []byte(logoSVG)} })
	b := w.signedIn("usr_ada")
	img := regexp.MustCompile(`<img src="(/settings/assets/logo-[0-9a-f]{12}\.svg)" alt="" height="22">`)
	for _, page := range []reply{w.newBrowser().get("/sign-in"), b.get("/orgs"), b.get("/orgs/org_acme"), b.get("/nothing")} {
		if !strings.Contains(page.Body, "· Åcme &amp; &lt;Co&gt;</title>") || !strings.Contains(page.Body, "<bdi>Åcme &amp; &lt;Co&gt;</bdi>") || !img.MatchString(page.Body) {
			t.Errorf("the page lacks the brand: %.3000s", page.Body)
		}
	}
	page := b.get("/orgs/org_acme")
	logo := b.get(strings.TrimPrefix(img.FindStringSubmatch(page.Body)[1], Path))
	logo.wants(t, 200, "<rect")
	if h := logo.Header; h.Get("Content-Type") != "image/svg+xml" || h.Get("Content-Security-Policy") != "default-src 'none'; style-src 'unsafe-inline'; sandbox" ||
		!strings.Contains(h.Get("Cache-Control"), "immutable") || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the logo has the headers %v", logo.Header)
	}
	css := regexp.MustCompile(`/settings(/assets/settings-[0-9a-f]{12}\.css)`)
	was, is := css.FindStringSubmatch(plain.Body)[1], css.FindStringSubmatch(page.Body)[1]
	if was == is {
		t.Error("browsers keep the style sheet that they have")
	}
	b.get(is).wants(t, 200, "--accent: light-dark(#", "--primary: light-dark(#")
	if requests := len(loaded.FindAllString(page.Body, -1)); requests != 3 {
		t.Errorf("the page loads %d files beside the logo", requests)
	}

	w.restart(func(c *Config) { c.Brand = Brand{Logo: []byte(logoPNG)} })
	page = w.newBrowser().get("/sign-in")
	page.wants(t, 200, "· teamdata</title>", `<bdi>teamdata</bdi>`, `.png" alt="" height="22">`)
	path := regexp.MustCompile(`/assets/logo-[0-9a-f]{12}\.png`).FindString(page.Body)
	if r := w.newBrowser().get(path); r.Header.Get("Content-Type") != "image/png" || r.Body != logoPNG {
		t.Errorf("the logo is answered with %v", r.Header)
	}
}

func TestBrandChecks(t *testing.T) {
	for name, want := range map[string]bool{
		"A": true, "Åcme Portal 絵": true, strings.Repeat("é", 40): true, "": false, strings.Repeat("é", 41): false, " Acme": false, "Acme\n": false, "a\u202eb": false, "\xff": false,
	} {
		if err := CheckBrandName(name); (err == nil) != want {
			t.Errorf("the name %q: %v", name, err)
		}
	}
	for colour, want := range map[string]bool{"#0a7d5a": true, "#FFCC00": true, "": false, "red": false, "#abc": false, "#0a7d5g": false, "#0a7d5a;": false, "0a7d5a": false, "#0a7d5a\n": false} {
		if err := CheckBrandColour(colour); (err == nil) != want {
			t.Errorf("the colour %q: %v", colour, err)
		}
	}
	for logo, want := range map[string]bool{
		logoSVG: true, logoPNG: true, "<?xml version='1.0'?><!-- c -->\n" + logoSVG: true, "": false, "GIF89a": false, "<html><svg></svg></html>": false,
		"<svg></svg>": false, logoSVG[:len(logoSVG)-1]: false, logoPNG + strings.Repeat("x", 16<<10-len(logoPNG)): true, logoPNG + strings.Repeat("x", 16<<10-len(logoPNG)+1): false,
	} {
		if err := CheckBrandLogo([]byte(logo)); (err == nil) != want {
			t.Errorf("the logo %.60q: %v", logo, err)
		}
	}
}

// tokens are the colours of a style sheet by name, each light and dark.
func tokens(css string) map[string][2]colour {
	found := map[string][2]colour{}
	for _, m := range regexp.MustCompile(`--([a-z-]+): (?:light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)|(#[0-9a-f]{6}));`).FindAllStringSubmatch(css, -1) {
		if m[4] != "" {
			m[2], m[3] = m[4], m[4]
		}
		found[m[1]] = [2]colour{parseColour(m[2]), parseColour(m[3])} // the last one counts, as in a layer
	}
	return found
}

// Whatever the colour is, what meets in the style sheet can be read, light and dark; one
// that can be read already stays as it is.
func TestBrandKeepsTheContrast(t *testing.T) {
	var colours []string
	steps := []int{0, 0x33, 0x80, 0xcc, 0xff}
	for _, r := range steps {
		for _, g := range steps {
			for _, b := range steps {
				colours = append(colours, fmt.Sprintf("#%02x%02x%02x", r, g, b))
			}
		}
	}
	css := look.CSS
	for _, brand := range colours {
		all := tokens(css + Brand{Colour: brand}.css())
		for theme, name := range []string{"light", "dark"} {
			holds := func(one, other string, least float64) {
				if got := contrast(all[one][theme], all[other][theme]); got < least {
					t.Errorf("%s, %s: %s (%v) and %s (%v) have a contrast of %.2f", brand, name, one, all[one][theme], other, all[other][theme], got)
				}
			}
			for _, surface := range []string{"page", "side", "sunken", "hover", "accent-soft", "warn-soft", "bad-soft"} {
				holds("accent", surface, 4.5)
			}
			holds("text", "accent-soft", 4.5)
			holds("muted", "accent-soft", 4.5)
			holds("on-fill", "primary", 4.5)
			holds("on-fill", "primary-hover", 4.5)
			holds("primary", "page", 3)
		}
	}
	if got := paletteOf(parseColour("#0a5d4a")); got.primary[light].String() != "#0a5d4a" || got.accent[light].String() != "#0a5d4a" {
		t.Errorf("a colour that can be read becomes %v", got)
	}
	if tokens(css)["text"] != [2]colour{texts[light][0], texts[dark][0]} || tokens(css)["page"] != [2]colour{surfaces[light][0], surfaces[dark][0]} {
		t.Error("the style sheet has other colours than the ones that a brand is held to")
	}
}
