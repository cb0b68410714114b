// Package web is what the public API, the admin API and the settings page have in
// common: the life of a request (request.go), its route (route.go), what is read of
// it in the same way (input.go, page.go) and what a client sees of an error
// (errors.go).
//
// It imports package store, httprouter and zerolog. What only one of the three
// needs belongs to that one.
package web

import (
	"net/http"
	"strings"

	"teamdata/store"
)

// JSONType is the content type of every JSON answer.
const JSONType = "application/json"

// Values of headers, to be set in the header's map directly: that costs nothing,
// and a name keeps its case on HTTP/1.
var (
	NoStore  = []string{"no-store"}
	NoSniff  = []string{"nosniff"}
	Close    = []string{"close"}
	Replayed = []string{"true"} // of Idempotent-Replayed
)

// JSON is an answer with a JSON body.
func JSON(status int, body []byte) store.Answer {
	return store.Answer{Status: status, ContentType: JSONType, Body: body}
}

// Tagged is an answer with the header ETag: only the status 304, where the
// request's If-None-Match names that tag.
func (r *Request) Tagged(a store.Answer, etag string) store.Answer {
	r.W.Header()["ETag"] = []string{etag}
	if namesTag(r.HTTP.Header["If-None-Match"], etag) {
		return store.Answer{Status: http.StatusNotModified}
	}
	return a
}

// namesTag reports whether the values of If-None-Match name an entity tag. A weak
// one will do, as RFC 9110 has it.
func namesTag(values []string, etag string) bool {
	for tag := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}
