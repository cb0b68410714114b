package docs

import (
	"bytes"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"golang.org/x/net/html"

	"teamdata/docs"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// A server shows each page as a library for all of Markdown renders it: the same elements
// and words, in the same order.
func TestGuidesAreMarkdown(t *testing.T) {
	t.Parallel()
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--client-rate", "0")
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table, extension.TaskList))
	for _, page := range docs.Pages() {
		var want bytes.Buffer
		kit.Must(t, markdown.Convert([]byte(page.Text), &want))
		answer, err := p.Client.Get(p.URL + page.Path())
		kit.Must(t, err)
		var got bytes.Buffer
		_, err = got.ReadFrom(answer.Body)
		kit.Must(t, err)
		answer.Body.Close()
		_, article, _ := strings.Cut(got.String(), "<h1>")
		article, _, _ = strings.Cut(article, `<nav class="next"`)
		shown, rendered := pieces(t, "<h1>"+article), pieces(t, want.String())
		for i := range min(len(shown), len(rendered)) {
			if shown[i] != rendered[i] {
				t.Errorf("%s shows\n%q\nnot\n%q", page.Path(), shown[max(0, i-5):i+1], rendered[max(0, i-5):i+1])
				break
			}
		}
		if len(shown) != len(rendered) {
			t.Errorf("%s has %d pieces, not %d", page.Path(), len(shown), len(rendered))
		}
	}
}

// notCompared are the elements that only one of them has.
var notCompared = []string{"a", "article", "div", "input", "span"}

// pieces are the elements and words of a page. A link to a file of the repository is
// followed by the file's name, unless its words have it.
func pieces(t *testing.T, page string) (pieces []string) {
	t.Helper()
	var text strings.Builder // since the last element
	file, began := "", 0
	for z := html.NewTokenizer(strings.NewReader(page)); z.Next() != html.ErrorToken; {
		switch token := z.Token(); {
		case token.Type == html.TextToken:
			text.WriteString(strings.ReplaceAll(token.Data, "☐", " "))
		case token.Data == "a" && token.Type == html.EndTagToken && file != "":
			if !strings.Contains(text.String()[began:], path.Base(file)) {
				text.WriteString(" (" + file + ")")
			}
		case token.Data == "a" && token.Type == html.StartTagToken:
			file, began = "", text.Len()
			if href, _, _ := strings.Cut(token.Attr[0].Val, "#"); strings.HasPrefix(href, "../") {
				file = path.Join("docs", href)
			}
		case token.Type != html.CommentToken && !slices.Contains(notCompared, token.Data):
			token.Attr = nil
			pieces = append(append(pieces, strings.Fields(text.String())...), strings.Replace(token.String(), "th>", "td>", 1))
			text.Reset()
			began = 0
		}
	}
	return pieces
}
