package reference

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"strings"
	"sync"
	texttemplate "text/template"

	"teamdata/wire/look"
)

//go:embed page.html side.html guide.html
var pageFiles embed.FS

//go:embed llms.txt
var llmsText string

// The templates are parsed for the first reference, so that the program's commands
// don't wait for them.
var (
	pageTemplate = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("page.html").Funcs(template.FuncMap{
			"inline": inline, "paragraphs": paragraphs, "json": look.JSON, "lower": strings.ToLower,
			"list": func(items ...any) []any { return items },
		}).ParseFS(pageFiles, "*.html"))
	})
	textTemplate = sync.OnceValue(func() *texttemplate.Template {
		return texttemplate.Must(texttemplate.New("llms").Funcs(texttemplate.FuncMap{"line": line, "trim": strings.TrimSpace}).Parse(llmsText))
	})
)

// Links are the paths on the server that a reference leads to.
type Links struct {
	Page, Style, Font, JSON, YAML string
	Text                          string // for assistants; empty: none
	Guides                        bool   // the server has them
}

// shownPage is what the templates show.
type shownPage struct {
	Links
	Side                    side
	Address, Base           string // of the server, and of the API
	Title, Version, Summary string
	Description             string
	Introduction            template.HTML
	Guide                   []chapter
	Key                     string // the variable of the commands
	Groups                  []group
	Parts                   []part
	Events                  []shown
	EventsText              string
	EventHeaders            []field
	Headers                 []field // of answers
	Errors                  []failure
}

// New makes the reference of a document, with parts of it that have documents of their own.
func New(d Document, links Links, parts ...Part) (Reference, error) {
	var s spec
	if err := json.Unmarshal(d.JSON, &s); err != nil {
		return Reference{}, err
	}
	guide := chapters(s.Info.Description)
	p := shownPage{
		Links: links, Address: anyAddress, Base: anyAddress + s.Servers[0].URL,
		Title: s.Info.Title, Version: s.Info.Version, Summary: s.Info.Summary, Description: s.Info.Description,
		Introduction: guide[0].Text, Guide: guide[1:], Key: s.key(),
		Groups: s.groups(s.operations(anyAddress + s.Servers[0].URL)), Events: s.events(),
		EventHeaders: s.eventHeaders(), Headers: s.answerHeaders(), Errors: s.failures(),
	}
	for _, tag := range s.Tags {
		if s.introducesEvents(tag.Name) {
			p.EventsText = tag.Description
		}
	}
	for _, one := range parts {
		if err := p.add(one); err != nil {
			return Reference{}, err
		}
	}
	p.Side = newSide(p)
	var page, text bytes.Buffer
	if err := pageTemplate().Execute(&page, p); err != nil {
		return Reference{}, err
	}
	err := textTemplate().Execute(&text, p)
	return Reference{page.Bytes(), text.Bytes(), links, p.Side}, err
}
