package reference

import (
	"fmt"
	"html/template"
	"path"
	"regexp"
	"strings"

	"teamdata/docs"
)

// markdownPage renders a page of the documentation. It supports the Markdown that the pages
// use: headings, paragraphs, lists, tables and fenced code, and in them code, links, bold
// and italic text. HTML is left out if it is a comment, and else shown as text. A test in
// e2e/docs compares it with a library for all of Markdown.
type markdownPage struct {
	html     strings.Builder
	chapters []chapter      // without their texts
	anchors  map[string]int // how many headings have each
}

// renderPage returns what is below the title of a page, and its chapters.
func renderPage(page docs.Page) (body template.HTML, chapters []chapter) {
	p := markdownPage{anchors: map[string]int{}}
	_, text, _ := strings.Cut(page.Text, "\n")
	p.blocks(strings.Split(text, "\n"), false)
	return template.HTML(p.html.String()), p.chapters
}

var (
	listMarker  = regexp.MustCompile(`^(?:- |\d+\. )`)
	headingForm = regexp.MustCompile(`^(#{2,6}) (.+)$`)
	interrupts  = regexp.MustCompile("^(?:$|```|#{1,6} |- |1\\. |<!--)") // a paragraph
)

// blocks renders lines. Paragraphs of a tight list have no element.
func (p *markdownPage) blocks(lines []string, tight bool) {
	for len(lines) > 0 {
		n := 1
		switch line := lines[0]; {
		case line == "":
		case strings.HasPrefix(line, "<!--"):
			n += leading(lines, func(line string) bool { return !strings.Contains(line, "-->") })
		case strings.HasPrefix(line, "```"):
			n = p.code(lines)
		case headingForm.MatchString(line):
			p.heading(headingForm.FindStringSubmatch(line))
		case strings.HasPrefix(line, "|"):
			n = leading(lines, func(line string) bool { return strings.HasPrefix(line, "|") })
			p.table(lines[:n])
		case listMarker.MatchString(line):
			n = p.list(lines)
		default:
			n += leading(lines[1:], func(line string) bool { return !interrupts.MatchString(line) })
			p.paragraph(lines[:n], tight)
		}
		lines = lines[min(n, len(lines)):]
	}
}

// leading is how many of the first lines are so.
func leading(lines []string, are func(string) bool) (n int) {
	for n < len(lines) && are(lines[n]) {
		n++
	}
	return n
}

// code renders a block of code, which can be scrolled by keys too, and returns how many
// lines it has with its fences.
func (p *markdownPage) code(lines []string) int {
	n := 1 + leading(lines[1:], func(line string) bool { return line != "```" })
	p.html.WriteString(`<div class="code"><pre tabindex="0" role="group" aria-label="Code"><code>`)
	for _, line := range lines[1:n] {
		p.html.WriteString(template.HTMLEscapeString(line) + "\n")
	}
	p.html.WriteString("</code></pre></div>\n")
	return n + 1
}

var noAnchor = regexp.MustCompile(`[^\w -]`)

// heading renders a heading that links to itself. Its anchor is the same as on GitHub.
func (p *markdownPage) heading(found []string) {
	level, words := len(found[1]), found[2]
	id := strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(words), ""), " ", "-")
	if p.anchors[id]++; p.anchors[id] > 1 {
		id += fmt.Sprint("-", p.anchors[id]-1)
	}
	fmt.Fprintf(&p.html, "<h%d id=\"%s\"><a href=\"#%s\">%s</a></h%d>\n", level, id, id, spans(words), level)
	if level == 2 {
		p.chapters = append(p.chapters, chapter{ID: id, Title: strings.ReplaceAll(words, "`", "")})
	}
}

// table renders a table, which may be wider than the page.
func (p *markdownPage) table(lines []string) {
	p.html.WriteString(`<div class="table" tabindex="0" role="group" aria-label="Table"><table class="data">` + "\n<thead>\n")
	p.row(lines[0], "th")
	p.html.WriteString("</thead>\n<tbody>\n")
	for _, line := range lines[min(2, len(lines)):] {
		p.row(line, "td")
	}
	p.html.WriteString("</tbody>\n</table></div>\n")
}

// row renders the cells of a row. An empty one heads nothing.
func (p *markdownPage) row(line, tag string) {
	p.html.WriteString("<tr>\n")
	for cell := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|") {
		cell, of := strings.TrimSpace(cell), tag
		if cell == "" {
			of = "td"
		}
		p.html.WriteString("<" + of + ">" + spans(cell) + "</" + of + ">\n")
	}
	p.html.WriteString("</tr>\n")
}

// list renders a list, and returns how many lines it has.
func (p *markdownPage) list(lines []string) (n int) {
	tag, loose := "ul", false
	if lines[0][0] != '-' {
		tag = "ol"
	}
	var items [][]string
	for n < len(lines) && listMarker.MatchString(lines[n]) && (lines[n][0] == '-') == (tag == "ul") {
		width := len(listMarker.FindString(lines[n]))
		item, indent := []string{lines[n][width:]}, strings.Repeat(" ", width)
		for n++; n < len(lines) && (lines[n] == "" || strings.HasPrefix(lines[n], indent)); n++ {
			item = append(item, strings.TrimPrefix(lines[n], indent))
		}
		items = append(items, item)
		loose = loose || lines[n-1] == "" && n < len(lines) && listMarker.MatchString(lines[n])
	}
	p.html.WriteString("<" + tag + ">\n")
	for _, item := range items {
		p.html.WriteString("<li>")
		if box, ok := strings.CutPrefix(item[0], "[ ] "); ok { // which can't be ticked
			item[0] = box
			p.html.WriteString(`<span aria-hidden="true">☐</span> `)
		}
		p.blocks(item, !loose)
		p.html.WriteString("</li>\n")
	}
	p.html.WriteString("</" + tag + ">\n")
	return n
}

// paragraph renders a paragraph. The first of a page is its lead.
func (p *markdownPage) paragraph(lines []string, tight bool) {
	text := spans(strings.TrimSpace(strings.Join(lines, "\n")))
	switch {
	case tight:
		p.html.WriteString(text)
	case p.html.Len() == 0:
		p.html.WriteString(`<p class="doc-lead">` + text + "</p>\n")
	default:
		p.html.WriteString("<p>" + text + "</p>\n")
	}
}

var spanForm = regexp.MustCompile("`([^`]+)`" + // code, which may be in all others
	"|\\[((?:`[^`]+`|[^]`])+)\\]\\(([^)\\s]+)\\)" + // a link
	"|\\*\\*((?:`[^`]+`|[^*`])+)\\*\\*" + // bold
	"|\\*((?:`[^`]+`|[^*`\\s])(?:`[^`]+`|[^*`])*)\\*") // italic

// spans renders a text without blocks.
func spans(text string) string {
	var b strings.Builder
	for end := 0; ; {
		at := spanForm.FindStringSubmatchIndex(text[end:])
		if at == nil {
			return b.String() + template.HTMLEscapeString(text[end:])
		}
		group := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return text[end+at[2*n] : end+at[2*n+1]]
		}
		b.WriteString(template.HTMLEscapeString(text[end : end+at[0]]))
		switch {
		case group(1) != "":
			b.WriteString("<code>" + template.HTMLEscapeString(strings.ReplaceAll(group(1), "\n", " ")) + "</code>")
		case group(2) != "":
			b.WriteString(linkTo(group(3), group(2)))
		case group(4) != "":
			b.WriteString("<strong>" + spans(group(4)) + "</strong>")
		default:
			b.WriteString("<em>" + spans(group(5)) + "</em>")
		}
		end += at[1]
	}
}

// linkTo links words to another site, or to a page or a heading on this server. A file of
// the repository isn't there: it is named instead.
func linkTo(target, words string) string {
	href, anchor, _ := strings.Cut(target, "#")
	name, isPage := strings.CutSuffix(href, ".md")
	switch {
	case href == "", strings.HasPrefix(target, "https://"):
		href = target
	case isPage && path.Base(name) == name:
		if href = (docs.Page{Name: name}).Path(); anchor != "" {
			href += "#" + anchor
		}
	default:
		file := path.Join("docs", href)
		if !strings.Contains(words, path.Base(file)) {
			words += " (" + file + ")"
		}
		return spans(words)
	}
	return `<a href="` + template.HTMLEscapeString(href) + `">` + spans(words) + "</a>"
}
