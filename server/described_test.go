package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"teamdata/store"
	"teamdata/wire/openapi"
	"teamdata/wire/reference"
)

// described is the document of the current version.
func described(t testing.TB) (document reference.Document, root branch) {
	t.Helper()
	document, ok := openapi.Of(published[0].date)
	if !ok {
		t.Fatalf("wire/openapi has no document of the version %s", published[0].date)
	}
	if err := json.Unmarshal(document.JSON, &root); err != nil {
		t.Fatal(err)
	}
	return document, root
}

func TestVersionsAreDescribed(t *testing.T) {
	for _, v := range published {
		if _, ok := openapi.Of(v.date); !ok {
			t.Errorf("wire/openapi has no document whose info.version is %s", v.date)
		}
	}
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// The routes that need a key and the document's operations are the same, and each
// operation names the scope and the features that its route needs.
func TestRoutesAreDescribed(t *testing.T) {
	_, root := described(t)
	operations := map[string]branch{}
	for path := range root.at("paths") {
		for method := range root.at("paths", path) {
			operations[strings.ToUpper(method)+" "+pathParameter.ReplaceAllString(path, ":$1")] = root.at("paths", path, method)
		}
	}
	for _, rt := range routes {
		name := rt.method + " " + rt.path
		operation, ok := operations[name]
		switch delete(operations, name); {
		case rt.scope == 0 && ok:
			t.Errorf("openapi.yaml has %s, which needs no key", name)
		case rt.scope != 0 && !ok:
			t.Errorf("openapi.yaml lacks %s", name)
		}
		if !ok {
			continue
		}
		needs := append(rt.features.Names(), rt.scope.Names()...)
		for _, word := range []string{"read", "write", "webhooks", "auditLog"} {
			text := operation["description"].(string)
			if named := strings.Contains(text, "`"+word+"`"); named != slices.Contains(needs, word) {
				t.Errorf("openapi.yaml: the description of %s names %s: %t, and the route needs %q", name, word, named, needs)
			}
		}
	}
	for name := range operations {
		t.Errorf("openapi.yaml has %s, which is no route", name)
	}
}

// The codes of the catalogue that this API answers are those of the document's
// examples, each with its status. No route here looks at If-Match.
func TestCodesAreDescribed(t *testing.T) {
	_, root := described(t)
	found := map[store.Code]int{}
	for path := range root.at("paths") {
		for _, operation := range root.at("paths", path) {
			for status, response := range branch(operation.(map[string]any)).at("responses") {
				for code := range codesOf(root, response) {
					found[code], _ = strconv.Atoi(status)
				}
			}
		}
	}
	for _, info := range store.Codes {
		status, ok := found[info.Code]
		switch delete(found, info.Code); {
		case info.Code == store.CodePreconditionFailed:
			if ok {
				t.Errorf("openapi.yaml shows %s, which only the admin API answers", info.Code)
			}
		case !ok:
			t.Errorf("openapi.yaml: no operation has an answer whose example shows %s", info.Code)
		case status != info.Status:
			t.Errorf("openapi.yaml shows %s under %d, and it is %d", info.Code, status, info.Status)
		}
	}
	for code := range found {
		t.Errorf("openapi.yaml shows the code %s, which store.Codes lacks", code)
	}
}

// codesOf are the codes in the examples of a response, which may be a reference.
func codesOf(root branch, response any) map[store.Code]bool {
	b := branch(response.(map[string]any))
	if ref, ok := b["$ref"].(string); ok {
		b = root.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	codes := map[store.Code]bool{}
	if b["content"] == nil {
		return codes
	}
	examples := b.at("content", "application/json", "examples")
	for name := range examples {
		if e, ok := examples.at(name, "value")["error"].(map[string]any); ok {
			codes[store.Code(e["code"].(string))] = true
		}
	}
	return codes
}

func TestEventsAreDescribed(t *testing.T) {
	_, root := described(t)
	have := slices.Sorted(maps.Keys(root.at("webhooks")))
	if want := slices.Sorted(slices.Values(store.BuiltInEventTypes)); !slices.Equal(have, want) {
		t.Errorf("openapi.yaml has the webhooks\n%q\nwant\n%q", have, want)
	}
}

// The bounds and the default of limit are those that the server has.
func TestLimitIsDescribed(t *testing.T) {
	_, root := described(t)
	schema := root.at("components", "parameters", "limit", "schema")
	bound := func(name string) int { return int(schema[name].(float64)) }
	env := newTestEnv(t, Config{})
	addMembers(env, 100)
	for limit, want := range map[int]int{
		bound("minimum") - 1: 400, bound("minimum"): 200, bound("maximum"): 200, bound("maximum") + 1: 400,
	} {
		if got := env.do(newRequest("GET", fmt.Sprintf("/api/v1/members?limit=%d", limit), "key_read")).Code; got != want {
			t.Errorf("openapi.yaml has limit from %v to %v, and %d is answered %d", schema["minimum"], schema["maximum"], limit, got)
		}
	}
	body := env.do(newRequest("GET", "/api/v1/members", "key_read")).Body.String()
	if n := strings.Count(body, `"userId"`); n != bound("default") {
		t.Errorf("openapi.yaml has the default limit %v, and %d items are answered", schema["default"], n)
	}
}
