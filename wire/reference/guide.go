package reference

import (
	"bytes"
	"html/template"
	"net/http"
	"sync"

	"teamdata/docs"
	"teamdata/store"
	"teamdata/wire/web"
)

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
var guides = sync.OnceValue(func() map[string]guide {
	all, pages := map[string]guide{}, docs.Pages()
	for i, page := range pages {
		g := guide{Page: page}
		g.Body, g.Chapters = renderPage(page)
		if i > 0 {
			g.Previous = &pages[i-1]
		}
		if i+1 < len(pages) {
			g.Next = &pages[i+1]
		}
		all[page.Path()] = g
	}
	return all
})

var errNoGuide = store.Errorf(store.CodeNotFound, "There is no such guide.").Advise("The guides are at %s.", GuidePath)

// startPath is where people look for the start page by the name of its file.
const startPath = GuidePath + "/start"

// SendGuide answers with the guide of a path.
func (ref Reference) SendGuide(r *web.Request, path string) error {
	if path == startPath {
		http.Redirect(r.W, r.HTTP, GuidePath, http.StatusPermanentRedirect)
		return nil
	}
	page, err := ref.guide(path)
	if err == nil {
		sendPage(r, page)
	}
	return err
}

func (ref Reference) guide(path string) ([]byte, error) {
	g, ok := guides()[path]
	if !ok {
		return nil, errNoGuide
	}
	var b bytes.Buffer
	err := pageTemplate().ExecuteTemplate(&b, "guide.html", struct {
		Links
		Side  side
		Guide guide
	}{ref.links, ref.side.at(path), g})
	return b.Bytes(), err
}
