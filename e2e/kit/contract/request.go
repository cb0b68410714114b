package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// requestFaults are why a request should not have been answered as it was.
func (c *Contract) requestFaults(operation node, x Exchange, path map[string]string) (faults []string) {
	faults = c.parameterFaults(operation, x, path)
	if c.secured(operation) && !strings.HasPrefix(strings.ToLower(x.RequestHeader.Get("Authorization")), "bearer ") {
		faults = append(faults, "it was answered without a key")
	}
	return append(faults, c.requestBodyFaults(operation, x.RequestBody)...)
}

// parameterFaults are why the parameters of a path or of an operation should not
// have passed.
func (c *Contract) parameterFaults(n node, x Exchange, path map[string]string) (faults []string) {
	query, _ := url.ParseQuery(x.URL.RawQuery) // what is broken in it doesn't count
	for _, p := range n.parameters() {
		name := p.text("name")
		values := map[string][]string{"query": query[name], "header": valuesOf(x.RequestHeader, name), "path": {path[name]}}
		faults = append(faults, c.valueFaults(p, p.text("in")+" parameter "+name, values[p.text("in")])...)
	}
	return faults
}

// parameters are those of a path or of an operation.
func (n node) parameters() (params []node) {
	list, _ := n["parameters"].([]any)
	for _, p := range list {
		params = append(params, p.(map[string]any))
	}
	return params
}

// valueFaults are why a parameter or a header should not have these values.
func (c *Contract) valueFaults(p node, what string, values []string) []string {
	schema := p.at("schema")
	if schema.text("type") == "array" && len(values) > 0 {
		values = []string{strings.Join(values, ",")}
	}
	switch {
	case len(values) == 0 && p["required"] == true:
		return []string{"the " + what + " is missing"}
	case len(values) > 1:
		return []string{"the " + what + " is there more than once"}
	case len(values) == 1:
		return c.faults(schema, "the "+what, schema.inJSON(values[0]))
	}
	return nil
}

// secured reports whether the operation needs a key: its own word on it comes
// before the document's. One of several ways may be to need none.
func (c *Contract) secured(operation node) bool {
	ways, own := operation["security"].([]any)
	if !own {
		ways, _ = c.root["security"].([]any)
	}
	for _, way := range ways {
		if needs, _ := way.(map[string]any); len(needs) == 0 {
			return false
		}
	}
	return len(ways) > 0
}

func (c *Contract) requestBodyFaults(operation node, text []byte) []string {
	body := operation.at("requestBody")
	switch {
	case len(text) == 0 && body["required"] == true:
		return []string{"the request has no body"}
	case len(text) == 0 || body == nil:
		return nil
	case !json.Valid(text):
		return []string{"the request's body is not JSON"}
	}
	return c.faults(body.at("content", "application/json", "schema"), "the request's body", text)
}

var (
	digits = regexp.MustCompile(`^0*(\d+)$`)
	commas = regexp.MustCompile(`\s*,\s*`)
)

// inJSON is the value of a schema that a text in a URL or a header is.
func (schema node) inJSON(text string) []byte {
	var value any = text
	switch m := digits.FindStringSubmatch(text); {
	case m != nil && schema.text("type") == "integer":
		return []byte(m[1])
	case schema.text("type") == "array":
		value = commas.Split(strings.TrimSpace(text), -1)
	}
	inJSON, _ := json.Marshal(value) // texts can't fail
	return inJSON
}

// valuesOf are the values of a header, in whatever case its name was written.
func valuesOf(h http.Header, name string) (values []string) {
	for key, more := range h {
		if strings.EqualFold(key, name) {
			values = append(values, more...)
		}
	}
	return values
}

// WebhookFaults are where a request that a receiver got is not as the document's
// webhooks say.
func (c *Contract) WebhookFaults(header http.Header, body []byte) (faults []string) {
	if !json.Valid(body) {
		return []string{"the body of a webhook is not JSON"}
	}
	var envelope node
	json.Unmarshal(body, &envelope) // what is no object has no type
	kind := envelope.text("type")
	event := c.root.at("webhooks", kind, "post")
	if event == nil {
		return []string{fmt.Sprintf("the document has no event %q", kind)}
	}
	faults = c.parameterFaults(event, Exchange{URL: &url.URL{}, RequestHeader: header}, nil)
	return append(faults, c.requestBodyFaults(event, body)...)
}
