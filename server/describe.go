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

func (x *exchange) describeInJSON() error {
	return x.describe(web.JSONType, func(d openapi.Document) []byte { return d.JSON })
}

func (x *exchange) describeInYAML() error {
	return x.describe(yamlType, func(d openapi.Document) []byte { return d.YAML })
}

// describe answers the description of the pinned version. It is in that version
// as it is, so that no change is applied to it.
func (x *exchange) describe(contentType string, in func(openapi.Document) []byte) error {
	document, ok := x.s.documents(x.s.versions[x.version].date)
	if !ok {
		return store.Errorf(store.CodeNotFound, "There is no description of this version.")
	}
	body, h := in(document), x.w.Header()
	etag := openapi.ETag(body)
	h["Cache-Control"], h["Vary"], h["ETag"] = describedFor, describedVary, []string{etag}
	if namesTag(x.r.Header["If-None-Match"], etag) {
		x.sendNotModified()
		return nil
	}
	x.send(store.Answer{Status: http.StatusOK, ContentType: contentType, Body: body})
	return nil
}

// sendNotModified tells a client that what it has is what it would get.
func (x *exchange) sendNotModified() {
	h := x.w.Header()
	x.setVersion(h)
	h["X-Content-Type-Options"] = web.NoSniff
	x.sent = true
	x.note(http.StatusNotModified, 0)
	x.w.WriteHeader(http.StatusNotModified)
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
