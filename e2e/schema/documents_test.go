package schema_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/contract"
	"teamdata/e2e/kit/referee"
)

// Tests of packages hold answers to the documents by our own judge. It finds a fault in a
// body where the library does: in each example of a document, and in each that was made of
// it by one change.
func TestJudgesAgree(t *testing.T) {
	for file, base := range map[string]string{"../../wire/openapi/openapi.json": "/api/v1", "../../wire/openapi/pull.json": "/pull", "../../wire/openapi/admin.json": "/admin/v1"} {
		text := []byte(kit.ReadText(t, file))
		ours, err := contract.Read(text)
		kit.Must(t, err)
		theirs, err := contract.ReadBy(referee.Compile, text)
		kit.Must(t, err)
		good, bad := 0, 0
		for _, x := range exchangesOf(ours, base) {
			for changed := range changes(x.Body) {
				x.Body = changed
				here, there := bodyFault(ours, x), bodyFault(theirs, x)
				if (here == "") != (there == "") {
					t.Errorf("%s %s, %d: %s\nours   %s\ntheirs %s", x.Method, x.URL, x.Status, changed, here, there)
				}
				if there == "" {
					good++
				} else {
					bad++
				}
			}
		}
		if t.Logf("%s: %d bodies pass, %d don't", file, good, bad); good < 100 || bad < 100 {
			t.Errorf("%s: %d bodies pass and %d don't, so little is compared", file, good, bad)
		}
	}
}

// bodyFault is what is wrong with the body of an answer; empty: nothing.
func bodyFault(c *contract.Contract, x contract.Exchange) string {
	for _, fault := range c.Faults(x) {
		if _, wrong, ok := strings.Cut(fault, "the body: "); ok {
			return wrong
		}
	}
	return ""
}

// exchangesOf are the answers that a document shows as examples, each once.
func exchangesOf(c *contract.Contract, base string) (all []contract.Exchange) {
	known := map[string]bool{}
	for path := range c.At("paths") {
		for method := range c.At("paths", path) {
			for status := range c.At("paths", path, method, "responses") {
				at := []string{"paths", path, method, "responses", status, "content", "application/json"}
				bodies := []any{c.At(at...)["example"]}
				for name := range c.At(append(at, "examples")...) {
					bodies = append(bodies, c.At(append(at, "examples", name)...)["value"])
				}
				code, _ := strconv.Atoi(status)
				for _, body := range bodies {
					text, _ := json.Marshal(body)
					if body != nil && !known[status+string(text)] {
						known[status+string(text)] = true
						all = append(all, contract.Exchange{
							Method: strings.ToUpper(method), URL: &url.URL{Path: base + path}, Status: code,
							Header: http.Header{"Content-Type": {"application/json"}}, Body: text,
						})
					}
				}
			}
		}
	}
	return all
}

// changes are a body as it is, and with one change each.
func changes(body []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		var whole any
		if err := json.Unmarshal(body, &whole); err != nil {
			panic(err)
		}
		more := yield(body)
		told := func() bool {
			text, _ := json.Marshal(whole)
			more = more && yield(text)
			return more
		}
		change(whole, func(v any) { whole = v }, told)
	}
}

// change tells of each change to a value, which set replaces.
func change(value any, set func(any), tell func() bool) {
	for _, other := range []any{nil, true, -1, 2.5, "", "x", "2026-02-30T00:00:00Z", strings.Repeat("é", 5000), []any{}, map[string]any{}} {
		if set(other); !tell() {
			return
		}
	}
	set(value)
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			change(item, func(v any) { value[i] = v }, tell)
		}
		set(append(slices.Clone(value), value...))
		tell()
		set(value)
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			item := value[name]
			change(item, func(v any) { value[name] = v }, tell)
			delete(value, name)
			tell()
			value[name] = item
		}
		value["unknown"] = 1
		tell()
		delete(value, "unknown")
	}
}
