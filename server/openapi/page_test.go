package openapi

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const current = "2026-10-06"

func rendered(t *testing.T) (s spec, page string) {
	t.Helper()
	d, ok := Of(current)
	if !ok {
		t.Fatalf("there is no document of %s", current)
	}
	b, err := Page(d, "https://data.example.com", "/docs/style.css")
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, d), string(b)
}

func submatches(form, text string) (found []string) {
	for _, m := range regexp.MustCompile(form).FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// Each operation, event, error and chapter has an anchor of its own, and each link
// within the page leads to one.
func TestAnchors(t *testing.T) {
	s, page := rendered(t)
	ids := submatches(` id="([^"]*)"`, page)
	sorted := slices.Sorted(slices.Values(ids))
	if len(slices.Compact(sorted)) != len(ids) {
		t.Errorf("an anchor is there twice: %q", ids)
	}
	wanted := submatches(`href="#([^"]*)"`, page)
	for _, one := range append(s.operations(""), s.events()...) {
		wanted = append(wanted, one.ID)
	}
	for _, e := range s.failures() {
		wanted = append(wanted, e.Code)
	}
	for _, id := range append(wanted, "versions") { // to which Link leads
		if !slices.Contains(ids, id) {
			t.Errorf("nothing has the anchor %q", id)
		}
	}
}

// The page needs no script, nothing inline and nothing from elsewhere.
func TestPageStandsAlone(t *testing.T) {
	_, page := rendered(t)
	for _, form := range []string{`<script`, `<style`, ` style=`, ` on\w+=`, `<img`, `src=`, `javascript:`, `ZgotmplZ`} {
		if found := regexp.MustCompile(form).FindString(page); found != "" {
			t.Errorf("the page has %q", found)
		}
	}
	if links := submatches(`<link [^>]*href="([^"]*)"`, page); !slices.Equal(links, []string{"/docs/style.css"}) {
		t.Errorf("it loads %q", links)
	}
	if strings.Contains(string(Style), "url(") || strings.Contains(string(Style), "@import") {
		t.Error("the style sheet loads something")
	}
}

// The descriptions have only the Markdown that the page knows.
func TestMarkdownIsKnown(t *testing.T) {
	d, _ := Of(current)
	s := parsed(t, d)
	texts := []string{s.Info.Description}
	for _, tag := range s.Tags {
		texts = append(texts, tag.Description)
	}
	for _, one := range append(s.operations(""), s.events()...) {
		texts = append(texts, string(one.Text))
	}
	unknown := regexp.MustCompile("(?m)\\*\\*|^[-*] |^#{1}[^#]|^#{3,}|^\\d+\\. |^```|^\\||!\\[|__")
	for _, text := range texts {
		if found := unknown.FindString(text); found != "" {
			t.Errorf("the page doesn't know %q in %.60q", found, text)
		}
	}
}

func TestInline(t *testing.T) {
	for text, want := range map[string]string{
		"a `b` c":                       "a <code>b</code> c",
		"[a](https://b.example/c?d=e)":  `<a href="https://b.example/c?d=e">a</a>`,
		"[a](javascript:alert)":         "[a](javascript:alert)",
		"<b>&`<i>`":                     "&lt;b&gt;&amp;<code>&lt;i&gt;</code>",
		`[a](https://b.example" x="y")`: "[a](https://b.example&#34; x=&#34;y&#34;)",
	} {
		if got := string(inline(text)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// Each operation has a command, and the fields and the examples of its answer.
func TestPageShowsAll(t *testing.T) {
	_, page := rendered(t)
	text := html.UnescapeString(page)
	for _, want := range []string{
		"curl 'https://data.example.com/api/v1/members?limit=2' \\\n  -H \"Authorization: Bearer $API_KEY\"",
		"curl -X POST 'https://data.example.com/api/v1/webhooks/whe_1/test' \\\n  -H \"Authorization: Bearer $API_KEY\" \\\n  -H 'Idempotency-Key: 4f8a6c1e-test'",
		"<code>data[].userId</code> <span>string</span>",
		"<code>next</code> <span>string or null</span>",
		"<code>limit</code> <span>integer, 1 to 100, default 50, such as 2, optional</span>",
		"<code>webhook-signature</code>",
		"<code>data.endpointId</code>",
		`"code": "idempotencyMismatch"`,
		"<code>Retry-After</code>",
		"<code>429 rateLimited</code>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}
