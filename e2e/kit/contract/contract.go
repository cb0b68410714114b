// Package contract checks what tests send and get against an OpenAPI document, so
// that the document and the server can't drift apart.
//
// It is for tests. [Read] judges by our own internal/schema, so that the tests of a package
// need no module that the package doesn't; [ReadBy] by what it is given. The built program is
// judged by another library, e2e/kit/referee, and e2e/schema holds the one to the other. Its
// own tests make the documents in JSON from those in YAML. Requirements of one API alone
// are checked in that API's tests.
package contract

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"

	"teamdata/internal/schema"
)

// Contract is an OpenAPI 3.1 document whose objects are closed: a field that it
// doesn't list is a fault, unless it says that there may be others.
type Contract struct {
	Version string // of the API: info.version
	base    string // the path of its server
	root    node
	compile Compile
	mu      sync.Mutex // compiling is for one at a time
	checks  map[uintptr]Check
}

// Compile makes a check of a JSON Schema that refers to nothing. Its formats are to be
// checked too.
type Compile func(schema []byte) (Check, error)

// Check says where JSON does not match a schema.
type Check func(text []byte) error

// ours has formats checked by the draft that does so.
func ours(text []byte) (Check, error) {
	compiled, err := schema.Compile([]byte(`{"$schema":"http://json-schema.org/draft-07/schema#",` + string(text[1:])))
	if err != nil {
		return nil, err
	}
	return compiled.Check, nil
}

// Read reads a document in JSON.
func Read(document []byte) (*Contract, error) { return ReadBy(ours, document) }

// ReadBy is Read with another judge of schemas.
func ReadBy(compile Compile, document []byte) (*Contract, error) {
	c := &Contract{compile: compile, checks: map[uintptr]Check{}}
	var head struct {
		Info    struct{ Version string }
		Servers []struct{ URL string }
	}
	if err := errors.Join(json.Unmarshal(document, &c.root), json.Unmarshal(document, &head)); err != nil {
		return nil, err
	}
	if head.Info.Version == "" || len(head.Servers) == 0 {
		return nil, errors.New("the document has no info.version or no server")
	}
	c.Version, c.base = head.Info.Version, head.Servers[0].URL
	c.closed(map[string]any(c.root))
	return c, nil
}

// closed closes the schemas of objects in a part of the document, and returns it with what
// its references refer to in their place. The published document stays open, so that
// clients ignore new fields.
func (c *Contract) closed(part any) any {
	switch part := part.(type) {
	case []any:
		for i, item := range part {
			part[i] = c.closed(item)
		}
	case map[string]any:
		if ref, ok := part["$ref"].(string); ok {
			target := c.closed(map[string]any(c.root.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)))
			if len(part) == 1 {
				return target
			}
			delete(part, "$ref")
			all, _ := part["allOf"].([]any)
			part["allOf"] = append(all, target)
		}
		for key, value := range part {
			if key != "example" && key != "examples" && key != "const" {
				part[key] = c.closed(value)
			}
		}
		_, open := part["additionalProperties"]
		if _, object := part["properties"].(map[string]any); object && !open {
			part["additionalProperties"] = false
		}
	}
	return part
}

// node is a part of the document.
type node map[string]any

// At is a part of the document, by its keys. It is nil where there is nothing.
func (c *Contract) At(keys ...string) map[string]any { return c.root.at(keys...) }

func (n node) at(keys ...string) node {
	for _, key := range keys {
		n, _ = n[key].(map[string]any)
	}
	return n
}

func (n node) text(key string) string {
	text, _ := n[key].(string)
	return text
}

// faults is why some JSON doesn't fit a schema.
func (c *Contract) faults(schema node, what string, text []byte) []string {
	check, err := c.check(schema)
	if err == nil {
		err = check(text)
	}
	if err == nil {
		return nil
	}
	return []string{what + ": " + err.Error()}
}

// check compiles a schema once, wherever it is referred to.
func (c *Contract) check(schema node) (Check, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := reflect.ValueOf(schema).Pointer()
	if check, ok := c.checks[id]; ok {
		return check, nil
	}
	text, err := json.Marshal(node{"allOf": []any{schema}})
	if err != nil {
		return nil, err
	}
	check, err := c.compile(text)
	if err == nil {
		c.checks[id] = check
	}
	return check, err
}
