// Package contract checks what tests send and get against an OpenAPI document, so
// that the document and the server can't drift apart.
//
// It is for tests. [Read] judges by our own internal/schema, so that the tests of a package
// need no module that the package doesn't; [ReadBy] by what it is given. The built program is
// judged by another library, e2e/kit/referee, and e2e/schema holds the one to the other. Its
// own tests make the documents in JSON from those in YAML. What a document has to say of one
// API alone is checked in that API's tests.
package contract

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"teamdata/internal/schema"
)

// Contract is an OpenAPI 3.1 document whose objects are closed: a field that it
// doesn't list is a fault, unless it says that there may be others.
type Contract struct {
	Version string // of the API: info.version
	base    string // the path of its server
	root    map[string]any
	compile Compile
	mu      sync.Mutex // compiling is for one at a time
	checks  map[string]Check
}

// Compile makes a check of a JSON Schema that refers to nothing outside of itself. Its
// formats are to be checked too.
type Compile func(schema []byte) (Check, error)

// Check says where JSON does not match a schema.
type Check func(text []byte) error

// ours has formats checked by the draft that does so. That ignores what is beside a
// reference, where closeObjects leaves nothing.
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
	c := &Contract{compile: compile, checks: map[string]Check{}}
	if err := json.Unmarshal(document, &c.root); err != nil {
		return nil, err
	}
	closeObjects(c.root)
	var head struct {
		Info    struct{ Version string }
		Servers []struct{ URL string }
	}
	if err := json.Unmarshal(document, &head); err != nil {
		return nil, err
	}
	if head.Info.Version == "" || len(head.Servers) == 0 {
		return nil, fmt.Errorf("the document has no info.version or no server")
	}
	c.Version, c.base = head.Info.Version, head.Servers[0].URL
	return c, nil
}

// closeObjects closes the schemas of objects, and has each reference stand alone. The
// published document stays open, so that clients ignore new fields.
func closeObjects(node any) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			closeObjects(item)
		}
	case map[string]any:
		for key, value := range node {
			if key != "example" && key != "examples" && key != "const" {
				closeObjects(value)
			}
		}
		_, open := node["additionalProperties"]
		if _, object := node["properties"].(map[string]any); object && !open {
			node["additionalProperties"] = false
		}
		if ref, ok := node["$ref"]; ok && len(node) > 1 { // see ours
			all, _ := node["allOf"].([]any)
			node["allOf"] = append(all, map[string]any{"$ref": ref})
			delete(node, "$ref")
		}
	}
}

// node is a part of the document, and where it is.
type node struct {
	c       *Contract
	pointer string
	value   map[string]any
}

// At is a part of the document, by its keys; references are followed. It is nil where there
// is nothing.
func (c *Contract) At(keys ...string) map[string]any { return c.top().at(keys...).value }

func (c *Contract) top() node { return node{c, "", c.root} }

// at goes down by keys, and follows references. Its value is nil where there is
// nothing.
func (n node) at(keys ...string) node {
	for _, key := range keys {
		n = n.child(key, n.value[key])
	}
	return n
}

// pointerText writes a key as a part of a JSON pointer. It is made once: each answer of
// each test asks it many times.
var pointerText = strings.NewReplacer("~", "~0", "/", "~1")

func (n node) child(key string, value any) node {
	object, _ := value.(map[string]any)
	if ref, ok := object["$ref"].(string); ok {
		return n.c.top().at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	return node{n.c, n.pointer + "/" + pointerText.Replace(key), object}
}

func (n node) text(key string) string {
	text, _ := n.value[key].(string)
	return text
}

func (n node) is(key string) bool {
	is, _ := n.value[key].(bool)
	return is
}

// fault is why JSON doesn't fit the schema that n is; empty when it does.
func (n node) fault(text []byte) string {
	check, err := n.c.check(n)
	if err == nil {
		err = check(text)
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

func (c *Contract) check(n node) (Check, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if check, ok := c.checks[n.pointer]; ok {
		return check, nil
	}
	whole, err := c.whole(n)
	if err != nil {
		return nil, err
	}
	check, err := c.compile(whole)
	if err == nil {
		c.checks[n.pointer] = check
	}
	return check, err
}

// whole is the text of a schema with all that it refers to, at the same places.
func (c *Contract) whole(n node) ([]byte, error) {
	schemas := map[string]any{}
	c.collect(schemas, n.value)
	return json.Marshal(map[string]any{"allOf": []any{n.value}, "components": map[string]any{"schemas": schemas}})
}

// collect adds the schemas to which a part of the document refers.
func (c *Contract) collect(schemas map[string]any, part any) {
	switch part := part.(type) {
	case []any:
		for _, item := range part {
			c.collect(schemas, item)
		}
	case map[string]any:
		for _, inner := range part {
			c.collect(schemas, inner)
		}
		ref, _ := part["$ref"].(string)
		name, ok := strings.CutPrefix(ref, "#/components/schemas/")
		if _, known := schemas[name]; ok && !known {
			schemas[name] = c.top().at("components", "schemas").value[name]
			c.collect(schemas, schemas[name])
		}
	}
}
