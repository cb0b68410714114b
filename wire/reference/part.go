package reference

import (
	"encoding/json"
	"html/template"
	"slices"
	"strings"
)

// Part is an API that a reference shows beside its own, with which it shares the key, the
// headers of answers and the codes of errors.
type Part struct {
	Title      string // of its heading and of its fold in the side bar
	Document   Document
	JSON, YAML string // paths of the document on the server
}

// part is what the templates show of a Part.
type part struct {
	Part
	ID, Base, Summary, Description string
	Introduction                   template.HTML
	Guide                          []chapter
	Groups                         []group
}

// partText is a text of a part.
type partText struct{ Title, Text string }

// add adds a part to the page.
func (p *shownPage) add(one Part) error {
	var s spec
	if err := json.Unmarshal(one.Document.JSON, &s); err != nil {
		return err
	}
	guide := chapters(s.Info.Description)
	base := p.Address + s.Servers[0].URL
	shown := part{
		Part: one, ID: slug(one.Title), Base: base, Summary: s.Info.Summary,
		Description:  strings.ReplaceAll(s.Info.Description, "\n## ", "\n### "), // below the part's own heading
		Introduction: guide[0].Text, Guide: guide[1:], Groups: s.groups(s.operations(base)),
	}
	for i := range shown.Guide { // the page's own may have the same titles
		shown.Guide[i].ID = shown.ID + "-" + shown.Guide[i].ID
	}
	p.Parts = append(p.Parts, shown)
	p.addHeaders(s.answerHeaders())
	p.addErrors(one.Title, s.failures())
	return nil
}

// addHeaders adds those that the page lacks.
func (p *shownPage) addHeaders(headers []field) {
	for _, h := range headers {
		if !slices.ContainsFunc(p.Headers, func(have field) bool { return have.Name == h.Name }) {
			p.Headers = append(p.Headers, h)
		}
	}
}

// addErrors adds those of a part, and to those that the page has what they mean there.
func (p *shownPage) addErrors(title string, failures []failure) {
	for _, f := range failures {
		at := slices.IndexFunc(p.Errors, func(have failure) bool { return have.Code == f.Code })
		if at < 0 {
			p.Errors = append(p.Errors, f)
		} else if p.Errors[at].Text != f.Text {
			p.Errors[at].Parts = append(p.Errors[at].Parts, partText{title, f.Text})
		}
	}
}
