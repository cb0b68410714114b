package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Exchange is a request and its answer.
type Exchange struct {
	Method        string
	URL           *url.URL
	RequestHeader http.Header
	RequestBody   []byte
	Status        int
	Header        http.Header
	Body          []byte
}

// Faults are where an exchange is not as the document says.
func (c *Contract) Faults(x Exchange) (faults []string) {
	path, operation, params := c.operation(x.Method, x.URL.Path)
	response := operation.at("responses", strconv.Itoa(x.Status))
	if operation == nil {
		response = c.anywhere(x.Status)
	}
	switch {
	case response == nil && operation == nil:
		return x.name(fmt.Sprintf("status %d: the document has no such operation", x.Status))
	case response == nil:
		return x.name(fmt.Sprintf("status %d is not documented", x.Status))
	}
	faults = append(c.headerFaults(response, x.Header), c.bodyFaults(response, x)...)
	if operation != nil && x.Status < http.StatusBadRequest {
		faults = slices.Concat(faults, c.parameterFaults(path, x, params), c.requestFaults(operation, x, params))
	}
	return x.name(faults...)
}

// name puts the request before each fault.
func (x Exchange) name(faults ...string) []string {
	for i := range faults {
		faults[i] = fmt.Sprintf("%s %s, %d: %s", x.Method, x.URL.Path, x.Status, faults[i])
	}
	return faults
}

// operation finds what answers a request, with its path and the values of that
// one's parameters. HEAD is what GET is.
func (c *Contract) operation(method, path string) (item, operation node, params map[string]string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	rest, ok := strings.CutPrefix(path, c.base)
	if !ok {
		return nil, nil, nil
	}
	paths := c.root.at("paths")
	for _, template := range slices.Sorted(maps.Keys(paths)) {
		if params := match(template, rest); params != nil {
			return paths.at(template), paths.at(template, strings.ToLower(method)), params
		}
	}
	return nil, nil, nil
}

func match(template, path string) map[string]string {
	want, have := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return nil
	}
	params := map[string]string{}
	for i, part := range want {
		if name, ok := strings.CutPrefix(part, "{"); ok && have[i] != "" {
			params[strings.TrimSuffix(name, "}")] = have[i]
		} else if part != have[i] {
			return nil
		}
	}
	return params
}

// outside are the statuses of answers to requests that are no operation: an unknown
// path, an unknown method, and a fault of the server.
var outside = []int{
	http.StatusNotFound, http.StatusGone, http.StatusMethodNotAllowed,
	http.StatusInternalServerError, http.StatusServiceUnavailable,
}

// anywhere is the response with a status that some operation has, if the status
// may come outside of operations.
func (c *Contract) anywhere(status int) node {
	if !slices.Contains(outside, status) {
		return nil
	}
	paths := c.root.at("paths")
	for path := range paths {
		for method := range paths.at(path) {
			if r := paths.at(path, method, "responses", strconv.Itoa(status)); r != nil {
				return r
			}
		}
	}
	return nil
}

// transport are the headers of HTTP itself, and that of each answer of a server for
// tests.
var transport = []string{"Content-Type", "Content-Length", "Connection", "Date", "Transfer-Encoding", "Teamdata-Test-Clock"}

func (c *Contract) headerFaults(response node, have http.Header) (faults []string) {
	documented := response.at("headers")
	for name := range documented {
		faults = append(faults, c.valueFaults(documented.at(name), "header "+name, valuesOf(have, name))...)
	}
	known := slices.AppendSeq(slices.Clone(transport), maps.Keys(documented))
	for name := range have {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			faults = append(faults, "the header "+name+" is not documented")
		}
	}
	return faults
}

func (c *Contract) bodyFaults(response node, x Exchange) (faults []string) {
	content, kind := response.at("content"), x.Header.Get("Content-Type")
	body := content.at(kind)
	switch {
	case content == nil && len(x.Body) > 0:
		return []string{"a body is not documented"}
	case content == nil:
		return nil
	case body == nil:
		return []string{fmt.Sprintf("the content type %q is not documented", kind)}
	case kind != "application/json":
		return nil
	}
	var value node
	if !json.Valid(x.Body) {
		return []string{"the body is not JSON"}
	}
	json.Unmarshal(x.Body, &value) // what is no object has no code
	faults = c.faults(body.at("schema"), "the body", x.Body)
	if code := codeOf(value); x.Status >= http.StatusBadRequest && !slices.Contains(body.codes(), code) {
		faults = append(faults, fmt.Sprintf("the code %q is not in the examples of the answer", code))
	}
	return faults
}

// codes are the error codes that the examples of a body have.
func (body node) codes() (codes []string) {
	examples := body.at("examples")
	for name := range examples {
		codes = append(codes, codeOf(examples.at(name, "value")))
	}
	return codes
}

func codeOf(body node) string { return body.at("error").text("code") }
