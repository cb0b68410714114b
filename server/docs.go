package server

import (
	"bytes"
	"cmp"
	"net/http"
	"strings"
	"sync"

	"teamdata/internal/web"
	"teamdata/server/openapi"
	"teamdata/store"
)

// The paths of the reference page, which takes no key.
const (
	docsPath  = "/docs"
	docsStyle = docsPath + "/style.css"
)

// docs is the reference page of the current version.
type docs struct {
	address string // of the server in its examples; empty: the host of the request
	page    func() ([]byte, error)
}

// anyAddress is the placeholder for the address in the page.
const anyAddress = "https://teamdata.invalid"

func newDocs(s *Server) Mount {
	page := sync.OnceValues(func() ([]byte, error) {
		document, _ := s.config.documents(s.config.versions[0].date)
		return openapi.Page(document, anyAddress, docsStyle)
	})
	return Mount{Path: docsPath, Handler: &docs{s.config.Address, page}}
}

func (d *docs) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r := &web.Request{W: w, HTTP: request}
	path := request.URL.Path
	switch {
	case path != docsPath && path != docsPath+"/" && path != docsStyle:
		r.Send(web.ErrorAnswer(store.Errorf(store.CodeNotFound, "There is no such page.").Advise("The reference is at %s.", docsPath)))
	case request.Method != http.MethodGet && request.Method != http.MethodHead:
		w.Header()["Allow"] = []string{"GET, HEAD"}
		r.Send(web.ErrorAnswer(store.Errorf(store.CodeMethodNotAllowed, "This page takes GET, HEAD only.")))
	case path == docsStyle:
		sendRevalidated(r, "text/css; charset=utf-8", openapi.Style)
	default:
		d.sendPage(r)
	}
}

// docsPolicy allows the page to load its style sheet only.
var docsPolicy = []string{"default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}

func (d *docs) sendPage(r *web.Request) {
	page, err := d.page()
	if err != nil {
		r.Send(web.ErrorAnswer(web.PublicError(err)))
		return
	}
	h := r.W.Header()
	h["Content-Security-Policy"] = docsPolicy
	h["Referrer-Policy"] = []string{"no-referrer"}
	address := cmp.Or(d.address, addressOf(r.HTTP))
	sendRevalidated(r, "text/html; charset=utf-8", bytes.ReplaceAll(page, []byte(anyAddress), []byte(address)))
}

// sendRevalidated sends an answer that caches may store but must revalidate.
func sendRevalidated(r *web.Request, contentType string, body []byte) {
	r.W.Header()["Cache-Control"] = []string{"no-cache"}
	r.Send(r.Tagged(store.Answer{Status: http.StatusOK, ContentType: contentType, Body: body}, openapi.ETag(body)))
}

// A host of these bytes needs no quoting in a shell and in a page.
const (
	maxHost   = 255
	hostBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:[]-"
)

// addressOf returns the server's address as seen in a request.
func addressOf(r *http.Request) string {
	host, scheme := r.Host, "https://"
	if host == "" || len(host) > maxHost || strings.Trim(host, hostBytes) != "" {
		host = "localhost"
	}
	if r.TLS == nil {
		scheme = "http://"
	}
	return scheme + host
}

// Caches may keep the API's description for five minutes without revalidation.
var (
	describedFor  = []string{"public, max-age=300"}
	describedVary = []string{"API-Version"}
)

var errNoDescription = store.Errorf(store.CodeNotFound, "There is no description of this version.")

const yamlType = "application/yaml" // RFC 9512

func (r *request) describeInJSON() error {
	return r.describe(web.JSONType, func(d openapi.Document) []byte { return d.JSON })
}

func (r *request) describeInYAML() error {
	return r.describe(yamlType, func(d openapi.Document) []byte { return d.YAML })
}

// describe answers with the description of the pinned version. It has that
// version already, so no change is applied to it.
func (r *request) describe(contentType string, in func(openapi.Document) []byte) error {
	document, ok := r.s.config.documents(r.s.config.versions[r.version].date)
	if !ok {
		return errNoDescription
	}
	body, h := in(document), r.W.Header()
	h["Cache-Control"], h["Vary"] = describedFor, describedVary
	r.send(r.Tagged(store.Answer{Status: http.StatusOK, ContentType: contentType, Body: body}, openapi.ETag(body)))
	return nil
}
