package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// requestFaults are why a request should not have been answered as it was.
func (operation node) requestFaults(x Exchange, path map[string]string) (faults []string) {
	faults = operation.parameterFaults(x, path)
	if operation.secured() && !strings.HasPrefix(strings.ToLower(x.RequestHeader.Get("Authorization")), "bearer ") {
		faults = append(faults, "it was answered without a key")
	}
	return append(faults, operation.requestBodyFaults(x)...)
}

// parameterFaults are why the parameters of a path or of an operation should not
// have passed.
func (n node) parameterFaults(x Exchange, path map[string]string) (faults []string) {
	query, _ := url.ParseQuery(x.URL.RawQuery) // what is broken in it doesn't count
	for _, p := range n.parameters() {
		name := p.text("name")
		values := map[string][]string{"query": query[name], "header": valuesOf(x.RequestHeader, name), "path": {path[name]}}
		faults = append(faults, p.valueFaults(p.text("in")+" parameter "+name, values[p.text("in")])...)
	}
	return faults
}

// parameters are those of a path or of an operation; each may be a reference.
func (n node) parameters() (params []node) {
	list, _ := n.value["parameters"].([]any)
	for i, value := range list {
		params = append(params, n.at("parameters").child(strconv.Itoa(i), value))
	}
	return params
}

// valueFaults are why a parameter or a header should not have these values.
func (p node) valueFaults(what string, values []string) []string {
	schema := p.at("schema")
	if schema.text("type") == "array" && len(values) > 0 {
		values = []string{strings.Join(values, ",")}
	}
	switch {
	case len(values) == 0 && p.is("required"):
		return []string{"the " + what + " is missing"}
	case len(values) > 1:
		return []string{"the " + what + " is there more than once"}
	case len(values) == 1:
		return appendFault(nil, "the "+what, schema.textFault(values[0]))
	}
	return nil
}

// secured reports whether the operation needs a key: its own word on it comes
// before the document's. One of several ways may be to need none.
func (operation node) secured() bool {
	ways, own := operation.value["security"].([]any)
	if !own {
		ways, _ = operation.c.root["security"].([]any)
	}
	for _, way := range ways {
		if needs, _ := way.(map[string]any); len(needs) == 0 {
			return false
		}
	}
	return len(ways) > 0
}

func (operation node) requestBodyFaults(x Exchange) []string {
	body := operation.at("requestBody")
	switch {
	case body.value == nil:
		return nil
	case len(x.RequestBody) == 0 && body.is("required"):
		return []string{"the request has no body"}
	case len(x.RequestBody) == 0:
		return nil
	}
	if !json.Valid(x.RequestBody) {
		return []string{"the request's body is not JSON"}
	}
	return appendFault(nil, "the request's body", body.at("content", "application/json", "schema").fault(x.RequestBody))
}

var digits = regexp.MustCompile(`^0*(\d+)$`)

// textFault is why a text is no value of the schema.
func (schema node) textFault(text string) string {
	switch m := digits.FindStringSubmatch(text); {
	case m != nil && schema.text("type") == "integer":
		return schema.fault([]byte(m[1]))
	case schema.text("type") == "array":
		list := strings.Split(text, ",")
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		return schema.fault(inJSON(list))
	}
	return schema.fault(inJSON(text))
}

// inJSON writes texts, which can't fail.
func inJSON(value any) []byte {
	text, _ := json.Marshal(value)
	return text
}

func appendFault(faults []string, what, fault string) []string {
	if fault == "" {
		return faults
	}
	return append(faults, what+": "+fault)
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
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return []string{"the body of a webhook is not JSON"}
	}
	envelope, _ := value.(map[string]any)
	kind, _ := envelope["type"].(string)
	event := c.top().at("webhooks", kind, "post")
	if event.value == nil {
		return []string{fmt.Sprintf("the document has no event %q", kind)}
	}
	for _, p := range event.parameters() {
		name := p.text("name")
		faults = append(faults, p.valueFaults("header parameter "+name, valuesOf(header, name))...)
	}
	return append(faults, event.requestBodyFaults(Exchange{RequestBody: body})...)
}
