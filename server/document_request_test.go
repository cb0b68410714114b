package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"teamdata/wire/openapi"
)

// document is what requests are made of: the operations of the API as openapi.json
// has them, and of those by which consumers pull as pull.json has them.
type document struct {
	operations []operation
	known      map[string][]string // values that parameters may have, by their names
	keys       []string            // values of the header Authorization
	handedOut  handedOut
}

type operation struct {
	base, method, path string
	parameters         []parameter
	body               *bodySchema // nil: none is read
}

type parameter struct {
	Ref     string `json:"$ref"`
	Name    string
	In      string
	Schema  schema
	Example any
}

func readDocument(t testing.TB) *document {
	t.Helper()
	described, ok := openapi.Of(published[0].date)
	if !ok {
		t.Fatal("the current version has no document")
	}
	d := &document{known: map[string][]string{}}
	d.read(t, basePath, described.JSON)
	d.read(t, pullPath, openapi.Pull.JSON)
	slices.SortFunc(d.operations, func(a, b operation) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return d
}

// read adds the operations of a document in JSON.
func (d *document) read(t testing.TB, base string, text []byte) {
	t.Helper()
	var all struct {
		Paths map[string]map[string]struct {
			Parameters  []parameter
			RequestBody struct {
				Content map[string]struct{ Schema *bodySchema }
			}
		}
		Components struct {
			Parameters map[string]parameter
			Schemas    map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for path, methods := range all.Paths {
		for method, o := range methods {
			for i, p := range o.Parameters {
				if p.Ref != "" {
					o.Parameters[i] = all.Components.Parameters[p.Ref[strings.LastIndexByte(p.Ref, '/')+1:]]
				}
			}
			body := o.RequestBody.Content["application/json"].Schema
			body.described(t, all.Components.Schemas)
			d.operations = append(d.operations, operation{base, strings.ToUpper(method), path, o.Parameters, body})
		}
	}
}

// asking is a request that was made up, with what is known of it.
type asking struct {
	operation
	method  string // as it is sent
	route   bool   // the path is the operation's
	url     string
	header  http.Header
	sent    []byte // its body
	chunked bool   // its length is not told
	key     string
	version []string
	fits    bool // all else that the operation reads is as the document says
}

// ask makes a request up.
func (doc *document) ask(d *draws) asking {
	a := asking{operation: pick(d, doc.operations...), route: true, fits: true, header: http.Header{}}
	a.method = a.operation.method
	if d.oneIn(8) {
		a.method = pick(d, "HEAD", "OPTIONS", "GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW")
	}
	path, query := a.path, []string{}
	for _, p := range a.parameters {
		values := doc.values(d, p)
		switch p.In {
		case "path":
			path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(values[0]), 1)
			a.route = values[0] != "" && !strings.Contains(values[0], "/")
			continue
		case "query":
			for _, value := range values {
				query = append(query, p.Name+"="+url.QueryEscape(value))
			}
		case "header":
			a.header[p.Name] = values
		}
		switch p.Name {
		case "API-Version":
			a.version = values
		case "X-Request-Id", "If-None-Match": // what doesn't fit is passed over
		default:
			a.fits = a.fits && p.Schema.fits(values)
		}
	}
	a.distort(d, path, query)
	if a.body != nil {
		a.drawBody(d, &doc.handedOut)
	}
	if a.key = a.goodKey(); d.oneIn(2) {
		a.key = pick(d, doc.keys...)
	}
	a.header["Authorization"] = []string{a.key}
	return a
}

// values are those that a request gives a parameter: one, none or two.
func (doc *document) values(d *draws, p parameter) []string {
	known := append(doc.known[p.Name], fmt.Sprint(p.Example))
	value := inField(p, p.Schema.value(d, known))
	switch {
	case p.In != "path" && d.below(3) == 0:
		return nil
	case p.In != "path" && p.Name != "X-Request-Id" && p.Name != "If-None-Match" && d.oneIn(32):
		return []string{value, value}
	}
	return []string{value}
}

// inField is a value as it comes out of a header: what can't be in one, net/http
// answers by itself.
func inField(p parameter, value string) string {
	if p.In != "header" {
		return value
	}
	return strings.Trim(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return 'x'
		}
		return r
	}, value), " \t")
}

// distort puts the URL together, and sometimes another that is no route; and gives
// the request a body, and parameters that the document does not know.
func (a *asking) distort(d *draws, path string, query []string) {
	if d.oneIn(4) {
		query = append(query, url.QueryEscape(d.text()), "unknown=%zz")
	}
	a.url = a.base + path
	if d.oneIn(16) {
		others := []string{path, a.url + "/", a.base + "/" + path, strings.ToUpper(a.url), "/", "/api", a.base}
		if a.base == basePath { // at the other one, these are of an endpoint
			others = append(others, a.url+"x", a.base+"/..")
		}
		a.url = pick(d, others...)
		a.route = false
	}
	if len(query) > 0 {
		a.url += "?" + strings.Join(query, "&")
	}
	if a.body == nil && d.oneIn(4) {
		a.sent, a.chunked = pick(d, []byte(`{}`), []byte("\x00\xff"), bytes.Repeat([]byte(" "), documentedBody), bytes.Repeat([]byte(" "), documentedBody+1)), d.below(2) == 1
		a.header["Content-Type"] = []string{pick(d, "application/json", "text/plain", "?")}
	}
}
