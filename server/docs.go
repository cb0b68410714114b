package server

import (
	"bytes"
	"cmp"
	"net/http"
	"regexp"
	"strconv"
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
	address string // what stands before the paths in its examples; empty: where the request came in
	page    func() ([]byte, error)
}

// anyAddress stands in a page for the address, until it is known.
const anyAddress = "https://teamdata.invalid"

func newDocs(s *Server, address string) Mount {
	page := sync.OnceValues(func() ([]byte, error) {
		document, _ := s.documents(s.versions[0].date)
		return openapi.Page(document, anyAddress, docsStyle)
	})
	return Mount{Path: docsPath, Handler: &docs{address, page}}
}

func (d *docs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["X-Content-Type-Options"] = web.NoSniff
	path := r.URL.Path
	switch {
	case path != docsPath && path != docsPath+"/" && path != docsStyle:
		answerError(w, store.Errorf(store.CodeNotFound, "There is no such page. The reference is at %s.", docsPath))
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h["Allow"] = []string{"GET, HEAD"}
		answerError(w, store.Errorf(store.CodeMethodNotAllowed, "This page takes GET, HEAD only."))
	case path == docsStyle:
		answerCached(w, r, "text/css; charset=utf-8", openapi.Style)
	default:
		d.answerPage(w, r)
	}
}

// docsPolicy lets the page load its style sheet, and nothing else.
var docsPolicy = []string{"default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}

func (d *docs) answerPage(w http.ResponseWriter, r *http.Request) {
	page, err := d.page()
	if err != nil {
		answerError(w, web.PublicError(err))
		return
	}
	h := w.Header()
	h["Content-Security-Policy"] = docsPolicy
	h["Referrer-Policy"] = []string{"no-referrer"}
	answerCached(w, r, "text/html; charset=utf-8", bytes.ReplaceAll(page, []byte(anyAddress), []byte(cmp.Or(d.address, addressOf(r)))))
}

// answerCached lets a cache keep what it asks about each time.
func answerCached(w http.ResponseWriter, r *http.Request, contentType string, body []byte) {
	h := w.Header()
	etag := openapi.ETag(body)
	h["Cache-Control"], h["ETag"] = []string{"no-cache"}, []string{etag}
	if namesTag(r.Header["If-None-Match"], etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Type"], h["Content-Length"] = []string{contentType}, []string{strconv.Itoa(len(body))}
	w.Write(body)
}

func answerError(w http.ResponseWriter, e *store.Error) {
	a, h := web.ErrorAnswer(e), w.Header()
	h["Cache-Control"], h["Content-Type"] = web.NoStore, []string{a.ContentType}
	w.WriteHeader(a.Status)
	w.Write(a.Body)
}

// plainHost is a host that can be pasted into a shell and a page as it is.
var plainHost = regexp.MustCompile(`^[A-Za-z0-9.:\[\]-]{1,255}$`)

// addressOf is where a client finds the server, as far as its request tells.
func addressOf(r *http.Request) string {
	host, scheme := r.Host, "https://"
	if !plainHost.MatchString(host) {
		host = "localhost"
	}
	if r.TLS == nil {
		scheme = "http://"
	}
	return scheme + host
}
