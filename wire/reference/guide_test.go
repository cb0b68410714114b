package reference

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"teamdata/docs"
)

// Each page of the documentation is rendered whole: its blocks of code, its tables and
// its chapters.
func TestGuides(t *testing.T) {
	guides := renderedGuides(t)
	for _, page := range docs.Pages() {
		html := guides[page.Path()]
		for what, counts := range map[string][2]int{
			"blocks of code": {len(regexp.MustCompile("(?m)^ *```").FindAllString(page.Text, -1)) / 2, strings.Count(html, "<pre ")},
			"tables":         {len(regexp.MustCompile(`(?m)^(\|-+)+\|$`).FindAllString(page.Text, -1)), strings.Count(html, "<table ")},
			"titles":         {1, strings.Count(html, "<h1>")},
			"HTML":           {0, strings.Count(html, "&lt;!--")},
		} {
			if counts[0] != counts[1] {
				t.Errorf("%s has %d %s, and shows %d", page.Name, counts[0], what, counts[1])
			}
		}
	}
}

// Each link of a guide leads to a page of this server and a heading on it, or to another
// site. Nothing is loaded but what the style sheet needs.
func TestLinksOfGuides(t *testing.T) {
	guides, links := renderedGuides(t), 0
	for path, page := range guides {
		ids := submatches(` id="([^"]*)"`, page)
		if sorted := slices.Sorted(slices.Values(ids)); len(slices.Compact(sorted)) != len(ids) {
			t.Errorf("%s has an anchor twice: %q", path, ids)
		}
		for _, href := range submatches(`href="([^"]*)"`, page) {
			target, anchor, _ := strings.Cut(href, "#")
			if target == "" {
				target = path
			}
			if target != GuidePath && !strings.HasPrefix(target, GuidePath+"/") {
				if ofServer := []string{"/docs", "/docs/style.css", "/docs/inter.woff2", "/settings"}; !strings.HasPrefix(href, "https://") && !slices.Contains(ofServer, target) {
					t.Errorf("%s links to %s", path, href)
				}
				continue
			}
			links++
			if there, ok := guides[target]; !ok || anchor != "" && !strings.Contains(there, ` id="`+anchor+`"`) {
				t.Errorf("%s links to %s", path, href)
			}
		}
		if loaded := regexp.MustCompile(`<(script|img|iframe|object|embed|style)\b| (src|style|on\w+)=`).FindString(page); loaded != "" {
			t.Errorf("%s has %s", path, loaded)
		}
	}
	if links < 300 {
		t.Errorf("only %d links were found", links)
	}
}

// renderedGuides are the guides by their paths.
func renderedGuides(t *testing.T) map[string]string {
	t.Helper()
	inJSON, err := os.ReadFile(apis["public"].file)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := New(Document{JSON: inJSON}, apis["public"].links)
	if err != nil {
		t.Fatal(err)
	}
	byPath := map[string]string{}
	for _, page := range docs.Pages() {
		html, err := ref.guide(page.Path())
		if err != nil {
			t.Fatal(err)
		}
		byPath[page.Path()] = string(html)
	}
	return byPath
}

// A link to a file of the repository, which a server doesn't have, is its name. HTML is
// not passed on.
func TestMarkdownOfAPage(t *testing.T) {
	for _, row := range []struct{ markdown, want string }{
		{"[the unit](../contrib/teamdata.service)", "<p class=\"doc-lead\">the unit (contrib/teamdata.service)</p>\n"},
		{"[teamdata.service](../contrib/teamdata.service)", "<p class=\"doc-lead\">teamdata.service</p>\n"},
		{"[b](other.md#a-b)", `<p class="doc-lead"><a href="/docs/guide/other#a-b">b</a></p>` + "\n"},
		{"[b](start.md)", `<p class="doc-lead"><a href="/docs/guide">b</a></p>` + "\n"},
		{"[x](#here) [y](https://example.com/a.md)", `<p class="doc-lead"><a href="#here">x</a> <a href="https://example.com/a.md">y</a></p>` + "\n"},
		{"[x](javascript:alert)", "<p class=\"doc-lead\">x (docs/javascript:alert)</p>\n"},
		{"| | b |\n|---|---|\n| c | |", `<div class="table" tabindex="0" role="group" aria-label="Table"><table class="data">
<thead>
<tr>
<td></td><th>b</th></tr>
</thead>
<tbody>
<tr>
<td>c</td><td></td></tr>
</tbody>
</table></div>
`},
		{"<script>x</script>", "<!-- raw HTML omitted -->\n"},
		{"## A `--b` c", `<h2 id="a---b-c"><a href="#a---b-c">A <code>--b</code> c</a></h2>` + "\n"},
		{"- [ ] Sleep.", "<ul>\n<li><span aria-hidden=\"true\">☐</span> Sleep.</li>\n</ul>\n"},
	} {
		got, _, err := renderPage(docs.Page{Text: "# Title\n\n" + row.markdown + "\n"})
		if err != nil || string(got) != row.want {
			t.Errorf("%s: %q, want %q (%v)", row.markdown, got, row.want, err)
		}
	}
}
