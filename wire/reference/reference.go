// Package reference is what an API says of itself: its OpenAPI documents, the page for
// people that is generated from them, and the same as text for assistants. The Team
// Data API and the admin API serve theirs with it. Beside it are the guides, the pages of
// the documentation.
//
// spec.go reads what is shown of a document, and sections.go makes of it what
// page.html and llms.txt lay out; part.go adds an API that has a document of its own.
// guide.go renders the guides. It imports docs, store and wire/web.
package reference

import (
	"bytes"
	_ "embed"
	"net/http"
	"slices"
	"strings"
	"sync"

	"teamdata/store"
	"teamdata/wire/look"
	"teamdata/wire/web"
)

// Document describes one version of an API, in OpenAPI 3.1.
type Document struct {
	Version string // info.version: of the Team Data API, its date
	JSON    []byte
	YAML    []byte
}

// The content types of what is served, beside JSON.
const (
	YAMLType = "application/yaml" // RFC 9512
	textType = "text/plain; charset=utf-8"
	pageType = "text/html; charset=utf-8"
	cssType  = "text/css; charset=utf-8"
	fontType = "font/woff2"
)

// Reference is the page and the text of a document.
type Reference struct {
	page, text []byte
	links      Links
	side       side
}

// anyAddress is the placeholder for the server's address in both.
const anyAddress = "https://teamdata.invalid"

//go:embed page.css
var pageStyle string

// style is the look of all pages, and what the reference and the guides add.
var style = sync.OnceValue(func() []byte { return []byte(look.CSS + pageStyle) })

// SendStyle answers with the style sheet of the page and of the guides.
func SendStyle(r *web.Request) { Send(r, cssType, style()) }

// SendFont answers with the font of the style sheet, beside which its path has to be, with
// the name [look.FontName].
func SendFont(r *web.Request) { Send(r, fontType, look.Font) }

// pagePolicy allows the page to load its style sheet and its font only.
var pagePolicy = []string{"default-src 'none'; style-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}

// SendPage answers with the page. address is the server's base URL in its examples,
// such as https://data.example.com; empty: as the request has it.
func (ref Reference) SendPage(r *web.Request, address string) {
	sendPage(r, ref.at(ref.page, address, r.HTTP))
}

func sendPage(r *web.Request, page []byte) {
	h := r.W.Header()
	h["Content-Security-Policy"] = pagePolicy
	h["Referrer-Policy"] = []string{"no-referrer"}
	Send(r, pageType, forReader(page, r.HTTP))
}

// forReader is a page in the colours that the reader has chosen in the settings, with the
// way to sign in for whoever isn't signed in there.
func forReader(page []byte, r *http.Request) []byte {
	if c, err := r.Cookie("theme"); err == nil && (c.Value == "light" || c.Value == "dark") {
		page = bytes.Replace(page, []byte(`<html lang="en"`), []byte(`<html lang="en" data-theme="`+c.Value+`"`), 1)
	}
	session := func(c *http.Cookie) bool { return strings.TrimPrefix(c.Name, "__Host-") == "teamdata" }
	if !slices.ContainsFunc(r.Cookies(), session) {
		page = bytes.Replace(page, []byte("Back to settings"), []byte("Sign in"), 1)
	}
	return page
}

// SendText answers with the text.
func (ref Reference) SendText(r *web.Request, address string) {
	Send(r, textType, ref.at(ref.text, address, r.HTTP))
}

func (ref Reference) at(text []byte, address string, r *http.Request) []byte {
	if address == "" {
		address = web.AddressOf(r)
	}
	return bytes.ReplaceAll(text, []byte(anyAddress), []byte(address))
}

// Send answers with what caches may store but must revalidate.
func Send(r *web.Request, contentType string, body []byte) {
	r.W.Header()["Cache-Control"] = []string{"no-cache"}
	r.Send(r.Tagged(store.Answer{Status: http.StatusOK, ContentType: contentType, Body: body}, web.ETag(body)))
}
