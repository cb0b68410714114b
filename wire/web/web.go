// Package web is what the public API, the admin API and the settings page share:
// the handling of a request (request.go), its route (route.go), its common input
// (input.go, page.go) and what a client sees of an error (errors.go).
//
// It imports package store, httprouter and zerolog. Code that only one of the
// three needs belongs to that one.
package web

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

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

// SetTestClock says in an answer that the server is for tests, and what its clock reads.
func SetTestClock(h http.Header, now time.Time) {
	h["Teamdata-Test-Clock"] = []string{store.FormatTime(now)}
}

// JSON is an answer with a JSON body.
func JSON(status int, body []byte) store.Answer {
	return store.Answer{Status: status, ContentType: JSONType, Body: body}
}

// Tagged returns an answer with the header ETag: only a 304 if the request's
// If-None-Match names that tag.
func (r *Request) Tagged(a store.Answer, etag string) store.Answer {
	r.W.Header()["ETag"] = []string{etag}
	if namesTag(r.HTTP.Header["If-None-Match"], etag) {
		return store.Answer{Status: http.StatusNotModified}
	}
	return a
}

// ETag returns the entity tag of content.
func ETag(content []byte) string {
	sum := sha256.Sum256(content)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// namesTag reports whether the values of If-None-Match name an entity tag. A weak
// one matches too, as in RFC 9110.
func namesTag(values []string, etag string) bool {
	for tag := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}

// A host of these bytes needs no quoting in a shell and in a page.
const (
	maxHost   = 255
	hostBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:[]-"
)

// AddressOf returns the server's address as seen in a request.
func AddressOf(r *http.Request) string {
	host, scheme := r.Host, "https://"
	if host == "" || len(host) > maxHost || strings.Trim(host, hostBytes) != "" {
		host = "localhost"
	}
	if r.TLS == nil {
		scheme = "http://"
	}
	return scheme + host
}
