package openapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"strings"
	"sync"
)

// Style is the style sheet of the reference page.
//
//go:embed page.css
var Style []byte

//go:embed page.html
var pageText string

// pageTemplate is parsed for the first page, so that the program's commands don't
// wait for it.
var pageTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

// page is what the template shows.
type page struct {
	Title, Version, Summary string
	Style, JSON, YAML       string // their addresses
	Introduction            template.HTML
	Guide                   []chapter
	Operations, Events      []shown
	EventsText              template.HTML
	EventHeaders            []field
	Headers                 []field // of answers
	Errors                  []failure
}

// shown is an operation or an event.
type shown struct {
	ID, Name, Summary string
	Text              template.HTML
	Curl              string
	Parameters        []field
	Fields            []field // of the answer, or of the event
	Examples          []example
	Errors            []failure
}

type example struct{ Summary, JSON string }

type failure struct {
	Code, Status, Example string
	Text                  template.HTML
}

// Page returns the reference page of a document. address is the server's base URL
// in its examples, such as https://data.example.com; style is the address of
// Style.
func Page(d Document, address, style string) ([]byte, error) {
	var s spec
	if err := json.Unmarshal(d.JSON, &s); err != nil {
		return nil, err
	}
	base := s.Servers[0].URL
	guide := chapters(s.Info.Description)
	p := page{
		Title: s.Info.Title, Version: s.Info.Version, Summary: s.Info.Summary,
		Style: style, JSON: base + "/openapi.json", YAML: base + "/openapi.yaml",
		Introduction: guide[0].Text, Guide: guide[1:],
		Operations: s.operations(address + base), Events: s.events(), EventsText: s.tagText("Webhooks"),
		EventHeaders: s.eventHeaders(), Headers: s.answerHeaders(), Errors: s.failures(),
	}
	var b bytes.Buffer
	err := pageTemplate().Execute(&b, p)
	return b.Bytes(), err
}

func (s *spec) tagText(name string) template.HTML {
	for _, tag := range s.Tags {
		if tag.Name == name {
			return paragraphs(tag.Description)
		}
	}
	return ""
}

func indented(value json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, value, "", "  "); err != nil {
		return string(value)
	}
	return b.String()
}

func (s *spec) examples(content pairs[media]) (list []example) {
	for _, m := range content {
		for _, e := range m.Value.Examples {
			list = append(list, example{e.Value.Summary, indented(e.Value.Value)})
		}
	}
	return list
}

// curl returns a command that makes the request, with the parameters that the
// path needs, those that have a default, and the key that makes a POST safe to
// retry.
func (s *spec) curl(method, address string, op operation) string {
	query, headers := "", ""
	for _, p := range op.Parameters {
		switch p = s.parameter(p); {
		case p.In == "path":
			address = strings.ReplaceAll(address, "{"+p.Name+"}", exampleOf(p))
		case p.In == "query" && p.Schema.Default != nil:
			query = "?" + p.Name + "=" + exampleOf(p)
		case p.Name == "Idempotency-Key":
			headers = " \\\n  -H '" + p.Name + ": " + exampleOf(p) + "'"
		}
	}
	verb := ""
	if method != "GET" {
		verb = "-X " + method + " "
	}
	return "curl " + verb + "'" + address + query + "' \\\n  -H \"Authorization: Bearer $API_KEY\"" + headers
}
