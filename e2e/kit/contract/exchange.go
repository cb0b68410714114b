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
	if operation.value == nil {
		response = c.anywhere(x.Status)
	}
	switch {
	case response.value == nil && operation.value == nil:
		return x.name(fmt.Sprintf("status %d: the document has no such operation", x.Status))
	case response.value == nil:
		return x.name(fmt.Sprintf("status %d is not documented", x.Status))
	}
	faults = append(response.headerFaults(x.Header), response.bodyFaults(x)...)
	if operation.value != nil && x.Status < http.StatusBadRequest {
		faults = append(faults, path.parameterFaults(x, params)...)
		faults = append(faults, operation.requestFaults(x, params)...)
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
		return node{}, node{}, nil
	}
	paths := c.top().at("paths")
	for _, template := range slices.Sorted(maps.Keys(paths.value)) {
		if params := match(template, rest); params != nil {
			return paths.at(template), paths.at(template, strings.ToLower(method)), params
		}
	}
	return node{}, node{}, nil
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
		return node{}
	}
	paths := c.top().at("paths")
	for path := range paths.value {
		for method := range paths.at(path).value {
			if r := paths.at(path, method, "responses", strconv.Itoa(status)); r.value != nil {
				return r
			}
		}
	}
	return node{}
}

// transport are the headers of HTTP itself, and that of each answer of a server for
// tests.
var transport = []string{"Content-Type", "Content-Length", "Connection", "Date", "Transfer-Encoding", "Teamdata-Test-Clock"}

func (response node) headerFaults(have http.Header) (faults []string) {
	documented := response.at("headers")
	for name := range documented.value {
		faults = append(faults, documented.at(name).valueFaults("header "+name, valuesOf(have, name))...)
	}
	known := slices.AppendSeq(slices.Clone(transport), maps.Keys(documented.value))
	for name := range have {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			faults = append(faults, "the header "+name+" is not documented")
		}
	}
	return faults
}

func (response node) bodyFaults(x Exchange) (faults []string) {
	content := response.at("content")
	kind := x.Header.Get("Content-Type")
	if content.value == nil {
		if len(x.Body) > 0 {
			faults = append(faults, "a body is not documented")
		}
		return faults
	}
	body := content.at(kind)
	switch {
	case body.value == nil:
		return append(faults, fmt.Sprintf("the content type %q is not documented", kind))
	case kind != "application/json":
		return faults
	}
	var value any
	if err := json.Unmarshal(x.Body, &value); err != nil {
		return append(faults, "the body is not JSON")
	}
	faults = appendFault(faults, "the body", body.at("schema").fault(x.Body))
	if x.Status >= http.StatusBadRequest && !slices.Contains(body.codes(), codeOf(value)) {
		faults = append(faults, fmt.Sprintf("the code %q is not in the examples of the answer", codeOf(value)))
	}
	return faults
}

// codes are the error codes that the examples of a body have.
func (body node) codes() (codes []string) {
	examples := body.at("examples")
	for name := range examples.value {
		codes = append(codes, codeOf(examples.at(name).value["value"]))
	}
	return codes
}

func codeOf(body any) string {
	whole, _ := body.(map[string]any)
	inner, _ := whole["error"].(map[string]any)
	code, _ := inner["code"].(string)
	return code
}
