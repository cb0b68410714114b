package contract_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"teamdata/e2e/kit"
)

// The documents have nothing that generators of clients stumble over: oapi-codegen
// and openapi-typescript, with their stock settings, take them in contrib.
func TestGeneratorsTakeTheDocuments(t *testing.T) {
	for _, file := range documents(t) {
		text := kit.ReadText(t, strings.TrimSuffix(file, ".yaml")+".json")
		var root branch
		kit.Must(t, json.Unmarshal([]byte(text), &root))
		complain := func(format string, args ...any) { t.Helper(); t.Errorf(file+": "+format, args...) }
		root.checkNames(complain)
		root.checkTypes(complain, "")
		root.checkFields(complain, map[string]any(root), "")
		for _, o := range root.operations() {
			o.check(complain)
		}
	}
}

// documents are all documents in YAML.
func documents(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../../wire/openapi/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("there are only the documents %q: %v", files, err)
	}
	return files
}

type complaint func(format string, args ...any)

// branch is a part of a document.
type branch map[string]any

func (b branch) at(keys ...string) branch {
	for _, key := range keys {
		b, _ = b[key].(map[string]any)
	}
	return b
}

// described is an operation, or what a webhook is sent as.
type described struct {
	branch
	root, shared branch // the document, and what the methods of the path share
	name         string
}

func (root branch) operations() (list []described) {
	for _, kind := range []string{"paths", "webhooks"} {
		for path, item := range root.at(kind) {
			item := branch(item.(map[string]any))
			for _, method := range []string{"get", "put", "post", "patch", "delete"} {
				if o := item.at(method); o != nil {
					list = append(list, described{o, root, item, method + " " + path})
				}
			}
		}
	}
	return list
}

// checkNames finds names that some language makes one of: generators put the
// components of all kinds, and types of their own for each operation, into one
// namespace.
func (root branch) checkNames(complain complaint) {
	taken := map[string]string{}
	take := func(what, name string) {
		plain := strings.Map(func(r rune) rune {
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return -1
			}
			return unicode.ToLower(r)
		}, name)
		if other, ok := taken[plain]; ok {
			complain("%s %s has the name of %s", what, name, other)
		}
		taken[plain] = what + " " + name
	}
	for kind, components := range root.at("components") {
		if kind == "securitySchemes" {
			continue
		}
		for name := range components.(map[string]any) {
			take(kind, name)
		}
	}
	for _, o := range root.operations() {
		id, _ := o.branch["operationId"].(string)
		for _, suffix := range []string{"", "Params", "Request", "Response", "JSONBody", "JSONRequestBody"} {
			take("the operation's", id+suffix)
		}
	}
}

// checkTypes finds values that may be of more than one type, beside null.
func (b branch) checkTypes(complain complaint, at string) {
	for _, key := range slices.Sorted(maps.Keys(b)) {
		switch value := b[key].(type) {
		case map[string]any:
			if key != "example" && key != "examples" {
				branch(value).checkTypes(complain, at+"/"+key)
			}
		case []any:
			nullable := len(value) == 2 && value[1] == "null"
			if key == "oneOf" || key == "anyOf" || key == "type" && !nullable {
				complain("%s is a union: %s %v", at, key, value)
			}
		}
	}
}

// checkFields finds fields without a description, which are empty cells on the
// reference page, and those that openapi-typescript takes too narrowly: it makes a field
// with a default required, and leaves an object without properties no field at all.
func (root branch) checkFields(complain complaint, value any, at string) {
	b, _ := value.(map[string]any)
	for name, value := range branch(b).at("properties") {
		field, _ := value.(map[string]any)
		switch {
		case field["description"] == nil && described{root: root}.find(value)["description"] == nil:
			complain("%s: the field %s has no description", at, name)
		case field["default"] != nil:
			complain("%s: the field %s has a default", at, name)
		case field["type"] == "object" && field["properties"] == nil && field["additionalProperties"] == nil:
			complain("%s: the field %s is an object of which nothing is said", at, name)
		}
	}
	for key, value := range b {
		if key != "example" && key != "examples" {
			root.checkFields(complain, value, at+"/"+key)
		}
	}
}

// check finds what readers and mocks lack.
func (o described) check(complain complaint) {
	if text, _ := o.branch["description"].(string); text == "" || text == o.branch["summary"] {
		complain("%s has no description", o.name)
	}
	for _, list := range []branch{o.branch, o.shared} {
		parameters, _ := list["parameters"].([]any)
		for _, p := range parameters {
			if p := o.find(p); p["example"] == nil || p["description"] == nil {
				complain("%s: the parameter %v has no example or no description", o.name, p["name"])
			}
		}
	}
	bodies := map[string]any{"requestBody": o.branch["requestBody"]}
	maps.Copy(bodies, o.at("responses"))
	for name, body := range bodies {
		for kind, content := range o.find(body).at("content") {
			content := branch(content.(map[string]any))
			if content["example"] == nil && len(content.at("examples")) == 0 {
				complain("%s: %s has no example of %s", o.name, name, kind)
			}
		}
	}
}

var reference = regexp.MustCompile(`^#/components/(\w+)/([\w-]+)$`)

// find follows a reference.
func (o described) find(value any) branch {
	b, _ := value.(map[string]any)
	if ref, ok := b["$ref"].(string); ok {
		return o.root.at(append([]string{"components"}, reference.FindStringSubmatch(ref)[1:]...)...)
	}
	return b
}
