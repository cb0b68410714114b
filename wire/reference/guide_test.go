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
	const lead, pre = `<p class="doc-lead">`, `<div class="code"><pre tabindex="0" role="group" aria-label="Code"><code>`
	for _, row := range []struct{ markdown, want string }{
		{"[the unit](../contrib/teamdata.service)", lead + "the unit (contrib/teamdata.service)</p>\n"},
		{"[`teamdata.service`](../contrib/teamdata.service)", lead + "<code>teamdata.service</code></p>\n"},
		{"[b](other.md#a-b)", lead + `<a href="/docs/guide/other#a-b">b</a></p>` + "\n"},
		{"[b](start.md)", lead + `<a href="/docs/guide">b</a></p>` + "\n"},
		{"[x](#here) [`y`](https://example.com/a.md?a&b)", lead + `<a href="#here">x</a> <a href="https://example.com/a.md?a&amp;b"><code>y</code></a></p>` + "\n"},
		{"[x](javascript:alert)", lead + "x (docs/javascript:alert)</p>\n"},
		{"[x](http://example.com)", lead + "x (docs/http:/example.com)</p>\n"},
		{"a <script>x</script>", lead + "a &lt;script&gt;x&lt;/script&gt;</p>\n"},
		{"<!-- a\nb -->\nc\n# d", lead + "c</p>\n<p># d</p>\n"},
		{"**a `*` b** *c [d](#e)* 2 * 3 * 4", lead + `<strong>a <code>*</code> b</strong> <em>c <a href="#e">d</a></em> 2 * 3 * 4</p>` + "\n"},
		{"## A `--b` c\n## a --b c", `<h2 id="a---b-c"><a href="#a---b-c">A <code>--b</code> c</a></h2>` + "\n" + `<h2 id="a---b-c-1"><a href="#a---b-c-1">a --b c</a></h2>` + "\n"},
		{"- [ ] Sleep.", "<ul>\n<li><span aria-hidden=\"true\">☐</span> Sleep.</li>\n</ul>\n"},
		{"1. a\n   b\n2. c\n- d", "<ol>\n<li>a\nb</li>\n<li>c</li>\n</ol>\n<ul>\n<li>d</li>\n</ul>\n"},
		{"- a\n\n  ```sh x\n  b\n\n    c\n  ```\n\n- d", "<ul>\n<li><p>a</p>\n" + pre + "b\n\n  c\n</code></pre></div>\n</li>\n<li><p>d</p>\n</li>\n</ul>\n"},
		{"| | b |\n|---|---|\n| c | |", `<div class="table" tabindex="0" role="group" aria-label="Table"><table class="data">
<thead>
<tr>
<td></td>
<th>b</th>
</tr>
</thead>
<tbody>
<tr>
<td>c</td>
<td></td>
</tr>
</tbody>
</table></div>
`},
		{"```\nunclosed", pre + "unclosed\n</code></pre></div>\n"},
	} {
		got, _ := renderPage(docs.Page{Text: "# Title\n\n" + row.markdown})
		if string(got) != row.want {
			t.Errorf("%s:\n%q, want\n%q", row.markdown, got, row.want)
		}
	}
}
