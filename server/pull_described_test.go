package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/wire/openapi"
)

func TestPullIsDescribed(t *testing.T) {
	env := newTestEnv(t, Config{})
	for path, want := range map[string]struct {
		body []byte
		kind string
	}{
		"/pull/openapi.json": {openapi.Pull.JSON, "application/json"}, "/pull/openapi.yaml": {openapi.Pull.YAML, "application/yaml"},
	} {
		answer := env.do(newRequest("GET", path, ""))
		if answer.Code != http.StatusOK || !bytes.Equal(answer.Body.Bytes(), want.body) || header(answer, "Content-Type")[0] != want.kind {
			t.Errorf("%s: got %d %v", path, answer.Code, answer.Header())
		}
		tag := header(answer, "ETag")[0]
		if again := env.do(newRequest("GET", path, "", "If-None-Match", tag)); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s: a client that has it gets %d and %d bytes", path, again.Code, again.Body.Len())
		}
	}
	if openapi.Pull.Version != published[0].date || !bytes.Contains(openapi.Pull.YAML, []byte("\n  version: \""+published[0].date+"\"\n")) {
		t.Errorf("pull.yaml is not of the version %s", published[0].date)
	}
}

// The routes that need a key and the document's operations are the same, each names what its
// key and plan need, and each refusal of a request is described with its status.
func TestPullRoutesAreDescribed(t *testing.T) {
	var root branch
	kit.Must(t, json.Unmarshal(openapi.Pull.JSON, &root))
	operations := 0
	for _, item := range root.at("paths") {
		operations += len(item.(map[string]any))
	}
	for _, rt := range pullRoutes {
		if rt.scope == 0 {
			continue
		}
		operations--
		operation := root.at("paths", pathOf(rt), strings.ToLower(rt.method))
		for _, name := range append(rt.scope.Names(), "webhooks") {
			if !strings.Contains(operation["description"].(string), "`"+name+"`") {
				t.Errorf("%s does not name %s", rt.path, name)
			}
		}
		found := map[store.Code]bool{}
		for _, response := range operation.at("responses") {
			for code := range codesOf(root, response) {
				found[code] = true
			}
		}
		for _, info := range store.Codes {
			never := info.Code == store.CodePreconditionFailed || info.Code == store.CodeIdempotencyMismatch
			if found[info.Code] == never {
				t.Errorf("%s: the code %s is described: %v", rt.path, info.Code, !never)
			}
		}
	}
	if operations != 0 {
		t.Errorf("pull.yaml has %d operations that are no routes", operations)
	}
}

// pathOf is a route's path as the document has it.
func pathOf(rt route) string { return strings.Replace(rt.path, ":endpoint", "{endpoint}", 1) }

// The bounds of fields are those that the server has.
func TestPullBoundsAreDescribed(t *testing.T) {
	var root branch
	kit.Must(t, json.Unmarshal(openapi.Pull.JSON, &root))
	for _, row := range []struct {
		schema, field, word string
		want                int
	}{
		{"Pull", "limit", "maximum", store.MaxPulled}, {"Pull", "waitSeconds", "maximum", int(store.MaxPullWait.Seconds())},
		{"Pull", "leaseSeconds", "minimum", int(store.MinLease.Seconds())}, {"Pull", "leaseSeconds", "maximum", int(store.MaxLease.Seconds())},
		{"Pull", "ack", "maxItems", store.MaxAcked}, {"Acknowledgment", "ids", "maxItems", store.MaxAcked},
		{"Nack", "deliveries", "maxItems", maxLeases}, {"Nack", "delaySeconds", "maximum", int(store.MaxNackDelay.Seconds())},
		{"Extension", "deliveries", "maxItems", maxLeases}, {"PulledDeliveries", "deliveries", "maxItems", store.MaxPulled},
	} {
		if got := root.at("components", "schemas", row.schema, "properties", row.field)[row.word]; got != float64(row.want) {
			t.Errorf("%s.%s: %s is %v, and the server has %d", row.schema, row.field, row.word, got, row.want)
		}
	}
}
