package reference

import (
	"html/template"
	"regexp"
	"strings"
)

// The document's descriptions use only the Markdown that these functions support:
// paragraphs, ## headings, `code` and [links](…). A test checks that.

// chapter is a heading and the text below it.
type chapter struct {
	ID, Title string
	Text      template.HTML
}

// chapters splits a description at its headings. The first has no title.
func chapters(text string) (list []chapter) {
	for i, part := range strings.Split("\n"+text, "\n## ") {
		title, rest := "", part
		if i > 0 {
			title, rest, _ = strings.Cut(part, "\n")
		}
		list = append(list, chapter{slug(title), title, paragraphs(rest)})
	}
	return list
}

// paragraphs splits a text at empty lines.
func paragraphs(text string) template.HTML {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		b.WriteString("<p>" + string(inline(part)) + "</p>\n")
	}
	return template.HTML(b.String())
}

var (
	codeForm = regexp.MustCompile("`([^`]+)`")
	linkForm = regexp.MustCompile(`\[([^\]]+)\]\((https://[^)\s"]+)\)`)
)

// inline renders a text without blocks. All of it is escaped first.
func inline(text string) template.HTML {
	text = template.HTMLEscapeString(strings.TrimSpace(text))
	text = codeForm.ReplaceAllString(text, "<code>$1</code>")
	return template.HTML(linkForm.ReplaceAllString(text, `<a href="$2">$1</a>`))
}

var noSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slug returns a title's name in a URL.
func slug(title string) string {
	return strings.Trim(noSlug.ReplaceAllString(strings.ToLower(title), "-"), "-")
}

// line is a text on one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }
