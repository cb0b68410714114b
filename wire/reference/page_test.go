package reference

import (
	"encoding/json"
	"html"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"teamdata/wire/look"
)

// apis are the documents that there are, by the name of their test.
var apis = map[string]struct {
	file  string
	links Links
	parts map[string]string // their documents' files, by title
}{
	"public": {"../../wire/openapi/openapi.json", Links{Page: "/docs", Style: "/docs/style.css", Font: "/docs/inter.woff2", JSON: "/api/v1/openapi.json", YAML: "/api/v1/openapi.yaml", Text: "/llms.txt", Guides: true}, map[string]string{"Pulling": "../../wire/openapi/pull.json"}},
	"admin":  {"../../wire/openapi/admin.json", Links{Page: "/admin/v1/docs", Style: "/admin/v1/docs/style.css", Font: "/admin/v1/docs/inter.woff2", JSON: "/admin/v1/openapi.json", YAML: "/admin/v1/openapi.yaml"}, nil},
}

// rendered is the reference of one of the apis, with what it shows: its own document, and
// those of its parts.
func rendered(t *testing.T, api string) (specs []spec, page, text string) {
	t.Helper()
	specs, ref := reference(t, api)
	const address = "https://data.example.com"
	return specs, string(ref.at(ref.page, address, nil)), string(ref.at(ref.text, address, nil))
}

func reference(t *testing.T, api string) (specs []spec, ref Reference) {
	t.Helper()
	read := func(file string) Document {
		inJSON, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s spec
		if err := json.Unmarshal(inJSON, &s); err != nil {
			t.Fatal(err)
		}
		specs = append(specs, s)
		return Document{JSON: inJSON}
	}
	own := read(apis[api].file)
	var parts []Part
	for title, file := range apis[api].parts {
		parts = append(parts, Part{Title: title, Document: read(file), JSON: "/" + title + ".json", YAML: "/" + title + ".yaml"})
	}
	ref, err := New(own, apis[api].links, parts...)
	if err != nil {
		t.Fatal(err)
	}
	return specs, ref
}

// described lists the operations and the events of documents.
func described(specs []spec) (list []shown) {
	for _, s := range specs {
		list = slices.Concat(list, s.operations("https://data.example.com"+s.Servers[0].URL), s.events())
	}
	return list
}

// each runs a test of each of the apis.
func each(t *testing.T, test func(t *testing.T, api string)) {
	for api := range apis {
		t.Run(api, func(t *testing.T) { test(t, api) })
	}
}

func submatches(form, text string) (found []string) {
	for _, m := range regexp.MustCompile(form).FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// Each operation, event, error and chapter has an anchor of its own, and each link
// within the page leads to one.
func TestAnchors(t *testing.T) { each(t, testAnchors) }

func testAnchors(t *testing.T, api string) {
	specs, page, _ := rendered(t, api)
	ids := submatches(` id="([^"]*)"`, page)
	sorted := slices.Sorted(slices.Values(ids))
	if len(slices.Compact(sorted)) != len(ids) {
		t.Errorf("an anchor is given twice: %q", ids)
	}
	wanted := submatches(`href="(?:`+apis[api].links.Page+`)?#([^"]*)"`, page)
	for _, one := range described(specs) {
		wanted = append(wanted, one.ID)
	}
	for _, s := range specs {
		for _, e := range s.failures() {
			wanted = append(wanted, e.Code)
		}
	}
	if api == "public" {
		wanted = append(wanted, "versions") // to which Link leads
	}
	for _, id := range wanted {
		if !slices.Contains(ids, id) {
			t.Errorf("nothing has the anchor %q", id)
		}
	}
}

// The side bar leads to each guide, chapter, operation and event, and to the settings. On a
// guide the fold of that alone is open.
func TestSide(t *testing.T) {
	specs, ref := reference(t, "public")
	page := string(ref.page)
	side := page[strings.Index(page, `<header class="side`):strings.Index(page, "<main")]
	wanted := []string{`href="/docs/guide/webhooks"`, `href="/docs#polling"`, `href="/docs#errors"`}
	for _, one := range described(specs) {
		wanted = append(wanted, `href="/docs#`+one.ID+`"`)
	}
	for _, want := range append(wanted, `<a href="/settings">`) {
		if !strings.Contains(side, want) {
			t.Errorf("the side bar lacks %s", want)
		}
	}
	var titles []string
	for _, f := range ref.side.Folds {
		titles = append(titles, f.Title)
	}
	if got := strings.Join(titles, ", "); got != "Guides, API basics, Operations, Pulling, Events" {
		t.Errorf("the folds are %s", got)
	}
	for _, f := range ref.side.at("/docs/guide/webhooks").Folds {
		if f.Open != (f.Title == "Guides") {
			t.Errorf("the fold %s: open %v", f.Title, f.Open)
		}
		for _, link := range f.Links {
			if link.Current != (link.Path == "/docs/guide/webhooks") {
				t.Errorf("%s is the current page: %v", link.Path, link.Current)
			}
		}
	}
}

// A page has the colours that were chosen in the settings, and says whether one is signed
// in there.
func TestForReader(t *testing.T) {
	_, page, _ := rendered(t, "public")
	for cookies, want := range map[string][2]string{
		"":                                 {`<html lang="en">`, "Sign in</a>"},
		"theme=dark":                       {`<html lang="en" data-theme="dark">`, "Sign in</a>"},
		`theme=x"onload; other=1`:          {`<html lang="en">`, "Sign in</a>"},
		"__Host-teamdata=abc; theme=light": {`<html lang="en" data-theme="light">`, "Back to settings</a>"},
		"teamdata=abc":                     {`<html lang="en">`, "Back to settings</a>"},
	} {
		r, _ := http.NewRequest("GET", "/docs", nil)
		r.Header.Set("Cookie", cookies)
		for _, text := range want {
			if got := string(forReader([]byte(page), r)); !strings.Contains(got, text) {
				t.Errorf("with the cookies %q there is no %s", cookies, text)
			}
		}
	}
}

// The page needs no script, nothing inline and nothing from elsewhere.
func TestPageStandsAlone(t *testing.T) { each(t, testPageStandsAlone) }

func testPageStandsAlone(t *testing.T, api string) {
	_, page, _ := rendered(t, api)
	for _, form := range []string{`<script`, `<style`, ` style=`, ` on\w+=`, `<img`, `src=`, `javascript:`, `ZgotmplZ`} {
		if found := regexp.MustCompile(form).FindString(page); found != "" {
			t.Errorf("the page has %q", found)
		}
	}
	if links := submatches(`<link [^>]*href="([^"]*)"`, page); !slices.Equal(links, []string{apis[api].links.Font, apis[api].links.Style}) {
		t.Errorf("it loads %q", links)
	}
	if loads := submatches(`(url\([^)]*\)|@import)`, string(style())); !slices.Equal(loads, []string{"url(" + look.FontName + ")"}) {
		t.Errorf("the style sheet loads %q", loads)
	}
}

// The descriptions have only the Markdown that the page knows.
func TestMarkdownIsKnown(t *testing.T) { each(t, testMarkdownIsKnown) }

func testMarkdownIsKnown(t *testing.T, api string) {
	specs, _, _ := rendered(t, api)
	var texts []string
	for _, s := range specs {
		texts = append(texts, s.Info.Description)
		for _, tag := range s.Tags {
			texts = append(texts, tag.Description)
		}
	}
	for _, one := range described(specs) {
		texts = append(texts, one.Text)
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

// Each operation has a command, and the fields and the examples of its answers.
func TestPageShowsAll(t *testing.T) {
	for api, wanted := range map[string][]string{
		"public": {
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
			"<h5>Answer 304</h5>",
			`<h3 id="operations-audit-log" class="group"><a href="#operations-audit-log">Audit log</a></h3>`,
			`<a class="link" href="/llms.txt">`,
			`<h2 id="pulling"><a href="#pulling">Pulling</a></h2>`,
			`<a class="link" href="/Pulling.yaml">openapi.yaml</a>`,
			"<code>https://data.example.com/pull</code>",
			`<h3 id="pulling-the-loop">`,
			"curl -X POST 'https://data.example.com/pull/whe_1' \\\n  -H \"Authorization: Bearer $API_KEY\" \\\n  --json '{\"limit\":100,\"waitSeconds\":30,\"ack\":[\"whd_01K60865992206906030338374\"]}'",
			"<code>deliveries[].leaseEndsAt</code>",
			"<p>The API key lacks the scope that the operation needs.</p>\n<p>Pulling: The API key lacks the scope <code>receive</code>, or is for other endpoints.</p>",
		},
		"admin": {
			"curl 'https://data.example.com/admin/v1/orgs?limit=2' \\\n  -H \"Authorization: Bearer $OPERATOR_TOKEN\"",
			"curl -X POST 'https://data.example.com/admin/v1/orgs/org_acme/files' \\\n  -H \"Authorization: Bearer $OPERATOR_TOKEN\" \\\n  -H 'Idempotency-Key: 4f8a6c1e' \\\n  --json '{\"name\":\"plan.pdf\",\"contentType\":\"application/pdf\",\"size\":48213}'",
			"<code>OPERATOR_TOKEN</code>",
			"<code>org</code> <span>string, such as org_acme</span>",
			"<code>state</code> <span>string, waiting, pending, retrying, held, leased, failed, unsuccessful or acknowledged, such as failed, optional</span>",
			"<code>subscription</code> <span>object or null, optional</span>",
			"<code>subscription.plan</code> <span>string or null, at most 64 characters, optional</span>",
			"<code>schema</code> <span>any JSON, optional</span>",
			"<h5>Answer 202</h5>",
			"<h5>Answer 204</h5>",
			`<h3 id="operations-tests" class="group"><a href="#operations-tests">Tests</a></h3>` + "\n<div class=\"doc\"><p>Only on a server",
			"<code>history[].tookMs</code>",
			"<code>412 preconditionFailed</code>",
		},
	} {
		_, page, _ := rendered(t, api)
		page = html.UnescapeString(regexp.MustCompile(`<span class="[ks]">([^<]*)</span>`).ReplaceAllString(page, "$1"))
		for _, want := range wanted {
			if !strings.Contains(page, want) {
				t.Errorf("the page of the %s API lacks %s", api, want)
			}
		}
		if strings.Contains(page, `id="events"`) != (api == "public") {
			t.Errorf("the %s API: events are shown", api)
		}
	}
}

// The text for assistants says the same: each operation with its command, each event
// and each error, and no HTML.
func TestTextShowsAll(t *testing.T) {
	each(t, func(t *testing.T, api string) {
		specs, _, text := rendered(t, api)
		s := specs[0]
		wanted := []string{"# " + s.Info.Title, "> " + s.Info.Summary, s.Info.Description, "](https://data.example.com" + apis[api].links.Page + ")"}
		for _, one := range described(specs) {
			wanted = append(wanted, "\n### "+one.Name+": "+one.Summary+"\n", strings.TrimSpace(one.Text))
			if one.Curl != "" {
				wanted = append(wanted, "```sh\n"+one.Curl+"\n```")
			} else {
				wanted = append(wanted, one.Examples[0].JSON)
			}
		}
		for _, e := range s.failures() {
			wanted = append(wanted, "\n- "+e.Status+" `"+e.Code+"`: "+line(e.Text))
		}
		for _, part := range specs[1:] {
			for _, e := range part.failures() {
				wanted = append(wanted, line(e.Text)+"\n")
			}
		}
		for title := range apis[api].parts {
			wanted = append(wanted, "\n## "+title+"\n", "](https://data.example.com/"+title+".json)")
		}
		for _, want := range wanted {
			if !strings.Contains(text, want) {
				t.Errorf("the text lacks %q", want)
			}
		}
		if found := regexp.MustCompile(`</?(p|code|a|span)\b|&(lt|gt|#34|amp);|.{0,60}\n\n\n.{0,60}`).FindString(text); found != "" {
			t.Errorf("the text has %q", found)
		}
	})
}
