package reference

import (
	"bytes"
	_ "embed"
	"html/template"
	"path"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"teamdata/docs"
	"teamdata/store"
	"teamdata/wire/web"
)

//go:embed guide.html
var guideText string

//go:embed guide.css
var guideStyle []byte

// GuidePath is where the guides are on every server.
const GuidePath = docs.Path

// guide is a page of the documentation in HTML.
type guide struct {
	docs.Page
	Body           template.HTML // what is below the title
	Chapters       []chapter     // without their texts
	Previous, Next *docs.Page
}

// guides are all guides, by their paths. They are rendered for the first request for one.
var guides = sync.OnceValues(func() (map[string]guide, error) {
	all, pages := map[string]guide{}, docs.Pages()
	for i, page := range pages {
		body, chapters, err := renderPage(page)
		if err != nil {
			return nil, err
		}
		g := guide{Page: page, Body: body, Chapters: chapters}
		if i > 0 {
			g.Previous = &pages[i-1]
		}
		if i+1 < len(pages) {
			g.Next = &pages[i+1]
		}
		all[page.Path()] = g
	}
	return all, nil
})

var errNoGuide = store.Errorf(store.CodeNotFound, "There is no such guide.").Advise("The guides are at %s.", GuidePath)

// SendGuide answers with the guide of a path.
func (ref Reference) SendGuide(r *web.Request, path string) error {
	page, err := ref.guide(path)
	if err == nil {
		sendPage(r, page)
	}
	return err
}

func (ref Reference) guide(path string) ([]byte, error) {
	all, err := guides()
	if err != nil {
		return nil, err
	}
	g, ok := all[path]
	if !ok {
		return nil, errNoGuide
	}
	var b bytes.Buffer
	err = pageTemplate().ExecuteTemplate(&b, "guide", struct {
		Links Links
		Guide guide
		Pages []docs.Page
	}{ref.links, g, docs.Pages()})
	return b.Bytes(), err
}

// markdown leaves out HTML. Its anchors of headings are those of GitHub, except for an
// underscore, which a test would notice.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table, extension.TaskList),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(scrollable{}, 100))),
)

// renderPage returns what is below the title of a page, and its chapters.
func renderPage(page docs.Page) (body template.HTML, chapters []chapter, err error) {
	source := []byte(page.Text)
	document := markdown.Parser().Parse(text.NewReader(source))
	document.RemoveChild(document, document.FirstChild())
	if lead, ok := document.FirstChild().(*ast.Paragraph); ok {
		lead.SetAttributeString("class", []byte("doc-lead"))
	}
	var links []*ast.Link // the tree is not changed while it is walked
	var headings []*ast.Heading
	eachNode(document, func(node ast.Node) {
		switch node := node.(type) {
		case *ast.Heading:
			headings = append(headings, node)
		case *ast.Link:
			links = append(links, node)
		}
	})
	for _, link := range links {
		relink(link, source)
	}
	for _, heading := range headings {
		id := linkToItself(heading)
		if heading.Level == 2 {
			chapters = append(chapters, chapter{ID: id, Title: textOf(heading, source)})
		}
	}
	var b bytes.Buffer
	err = markdown.Renderer().Render(&b, source, document)
	return template.HTML(b.String()), chapters, err
}

// relink leads a link between pages to the page on the server. A file of the repository
// isn't there: it is named instead.
func relink(link *ast.Link, source []byte) {
	target, anchor, _ := strings.Cut(string(link.Destination), "#")
	if target == "" || strings.Contains(target, "://") {
		return
	}
	if name, isPage := strings.CutSuffix(target, ".md"); isPage && path.Base(name) == name {
		link.Destination = []byte(docs.Page{Name: name}.Path())
		if anchor != "" {
			link.Destination = append(link.Destination, "#"+anchor...)
		}
		return
	}
	parent, words, file := link.Parent(), textOf(link, source), path.Join("docs", target)
	for child := link.FirstChild(); child != nil; child = link.FirstChild() {
		parent.InsertBefore(parent, link, child)
	}
	if !strings.Contains(words, path.Base(file)) {
		parent.InsertBefore(parent, link, ast.NewString([]byte(" ("+file+")")))
	}
	parent.RemoveChild(parent, link)
}

// linkToItself makes the words of a heading a link to it, and returns its anchor.
func linkToItself(heading *ast.Heading) (id string) {
	value, _ := heading.AttributeString("id")
	id = string(value.([]byte))
	link := ast.NewLink()
	link.Destination = []byte("#" + id)
	for child := heading.FirstChild(); child != nil; child = heading.FirstChild() {
		link.AppendChild(link, child)
	}
	heading.AppendChild(heading, link)
	return id
}

// textOf returns the words of a node, without their form.
func textOf(node ast.Node, source []byte) string {
	var b strings.Builder
	eachNode(node, func(n ast.Node) {
		if words, ok := n.(*ast.Text); ok {
			b.Write(words.Value(source))
		}
	})
	return b.String()
}

// eachNode calls a function that never fails for a node and all below it.
func eachNode(node ast.Node, call func(ast.Node)) {
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			call(n)
		}
		return ast.WalkContinue, nil
	})
}

// scrollable renders code and tables, which may be wider than a phone, so that they are
// scrolled by themselves, by keys too; and the boxes of a checklist, which can't be ticked.
type scrollable struct{}

func (scrollable) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(ast.KindCodeBlock, writeCode)
	register.Register(ast.KindFencedCodeBlock, writeCode)
	register.Register(extensionast.KindTable, around(`<div class="table" tabindex="0" role="group" aria-label="Table"><table class="data">`+"\n", "</table></div>\n"))
	register.Register(extensionast.KindTableCell, writeCell)
	register.Register(extensionast.KindTaskCheckBox, around(`<span aria-hidden="true">☐</span> `, ""))
}

func around(before, after string) renderer.NodeRendererFunc {
	return func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		piece := after
		if entering {
			piece = before
		}
		_, err := w.WriteString(piece)
		return ast.WalkContinue, err
	}
}

// writeCell writes the cell of a table. An empty one heads nothing.
func writeCell(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "td>"
	if node.Parent().Kind() == extensionast.KindTableHeader && node.HasChildren() {
		tag = "th>"
	}
	if !entering {
		tag = "/" + tag
	}
	_, err := w.WriteString("<" + tag)
	return ast.WalkContinue, err
}

func writeCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	code := util.EscapeHTML(node.Lines().Value(source))
	_, err := w.WriteString(`<div class="code"><pre tabindex="0" role="group" aria-label="Code"><code>` + string(code) + "</code></pre></div>\n")
	return ast.WalkSkipChildren, err
}
