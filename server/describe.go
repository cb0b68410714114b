package server

import (
	"net/http"
	"strings"

	"teamdata/internal/web"
	"teamdata/server/openapi"
	"teamdata/store"
)

// The API's description may be kept by caches, for five minutes without asking.
var (
	describedFor  = []string{"public, max-age=300"}
	describedVary = []string{"API-Version"}
)

const yamlType = "application/yaml" // RFC 9512

func (r *request) describeInJSON() error {
	return r.describe(web.JSONType, func(d openapi.Document) []byte { return d.JSON })
}

func (r *request) describeInYAML() error {
	return r.describe(yamlType, func(d openapi.Document) []byte { return d.YAML })
}

// describe answers the description of the pinned version. It is in that version
// as it is, so that no change is applied to it.
func (r *request) describe(contentType string, in func(openapi.Document) []byte) error {
	document, ok := r.s.documents(r.s.versions[r.version].date)
	if !ok {
		return store.Errorf(store.CodeNotFound, "There is no description of this version.")
	}
	body, h := in(document), r.W.Header()
	etag := openapi.ETag(body)
	h["Cache-Control"], h["Vary"], h["ETag"] = describedFor, describedVary, []string{etag}
	if namesTag(r.HTTP.Header["If-None-Match"], etag) {
		r.sendNotModified()
		return nil
	}
	r.send(store.Answer{Status: http.StatusOK, ContentType: contentType, Body: body})
	return nil
}

// sendNotModified tells a client that what it has is what it would get.
func (r *request) sendNotModified() {
	h := r.W.Header()
	r.setVersion(h)
	h["X-Content-Type-Options"] = web.NoSniff
	r.Sent = true
	r.note(http.StatusNotModified, 0)
	r.W.WriteHeader(http.StatusNotModified)
}

// namesTag tells whether the values of If-None-Match name an entity tag. A weak
// one will do, as RFC 9110 has it.
func namesTag(values []string, etag string) bool {
	for tag := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}
