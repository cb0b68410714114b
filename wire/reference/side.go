package reference

import (
	"slices"
	"strings"

	"teamdata/docs"
)

// side is what the side bar shows, of which the template is in side.html. Pages that have
// it need the style sheet of the reference.
type side struct {
	Home  string // path of the reference
	Folds []fold
}

// fold is a part of the side bar that can be closed.
type fold struct {
	Title string
	Open  bool
	Links []sideLink
}

type sideLink struct {
	Path, Text string
	Method     string // of an operation; empty: it is none
	Current    bool   // it is the page that is shown
}

// fewOperations stand in one fold, more of them in one for each group.
const fewOperations = 10

// newSide is the side bar of the reference itself.
func newSide(p shownPage) side {
	s := side{Home: p.Page}
	add := func(title string, open bool, links ...sideLink) {
		if len(links) > 0 {
			s.Folds = append(s.Folds, fold{title, open, links})
		}
	}
	to := func(id, text string) sideLink { return sideLink{Path: p.Page + "#" + id, Text: text} }

	var guides, basics, operations, events []sideLink
	if p.Guides {
		for _, page := range docs.Pages() {
			guides = append(guides, sideLink{Path: page.Path(), Text: page.Title})
		}
	}
	add("Guides", false, guides...)
	for _, c := range p.Guide {
		basics = append(basics, to(c.ID, c.Title))
	}
	add("API basics", true, append(basics, to("headers", "Headers of answers"), to("errors", "Errors"))...)
	var groups []fold
	for _, g := range p.Groups {
		links := g.links(to)
		operations = append(operations, links...)
		groups = append(groups, fold{Title: g.Name, Links: links})
	}
	if len(operations) <= fewOperations {
		groups = []fold{{"Operations", true, operations}}
	}
	s.Folds = append(s.Folds, groups...)
	for _, part := range p.Parts {
		var links []sideLink
		for _, g := range part.Groups {
			links = append(links, g.links(to)...)
		}
		add(part.Title, false, links...)
	}
	for _, e := range p.Events {
		events = append(events, to(e.ID, e.Name))
	}
	add("Events", false, events...)
	return s
}

func (g group) links(to func(id, text string) sideLink) (links []sideLink) {
	for _, op := range g.Operations {
		text, _, _ := strings.Cut(strings.Replace(op.Summary, " the org's ", " ", 1), " to ") // which goes without saying
		link := to(op.ID, text)
		link.Method = op.Method
		links = append(links, link)
	}
	return links
}

// at is the side bar of a guide, whose fold is open alone.
func (s side) at(path string) side {
	s.Folds = slices.Clone(s.Folds)
	for i := range s.Folds {
		f := &s.Folds[i]
		f.Links, f.Open = slices.Clone(f.Links), false
		for j := range f.Links {
			f.Links[j].Current = f.Links[j].Path == path
			f.Open = f.Open || f.Links[j].Current
		}
	}
	return s
}
