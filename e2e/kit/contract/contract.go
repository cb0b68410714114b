// Package contract checks what tests send and get against an OpenAPI document, so
// that the document and the server can't drift apart.
//
// It is for tests. It imports a library for JSON Schema, and nothing of this module; its own
// tests make the documents in JSON from those in YAML. What a document has to say of one API alone is checked in that API's
// tests.
package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Contract is an OpenAPI 3.1 document whose objects are closed: a field that it
// doesn't list is a fault, unless it says that there may be others.
type Contract struct {
	Version  string // of the API: info.version
	base     string // the path of its server
	root     map[string]any
	compiler *jsonschema.Compiler
	mu       sync.Mutex // compiling is for one at a time
	schemas  map[string]*jsonschema.Schema
}

const resource = "openapi.json"

// Read reads a document in JSON.
func Read(document []byte) (*Contract, error) {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, err
	}
	closeObjects(parsed)
	c := &Contract{compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	c.root, _ = parsed.(map[string]any)
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	if err := c.compiler.AddResource(resource, parsed); err != nil {
		return nil, err
	}
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

// closeObjects closes the schemas of objects. The published document stays open, so
// that clients ignore new fields.
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
	}
}

// node is a part of the document, and where it is.
type node struct {
	c       *Contract
	pointer string
	value   map[string]any
}

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

// fault is why a value doesn't fit the schema that n is; empty when it does.
func (n node) fault(value any) string {
	schema, err := n.c.schema(n.pointer)
	if err == nil {
		err = schema.Validate(value)
	}
	if err == nil {
		return ""
	}
	lines := strings.Split(err.Error(), "\n")
	return strings.Join(lines[1:], "; ")
}

func (c *Contract) schema(pointer string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.schemas[pointer]; ok {
		return s, nil
	}
	s, err := c.compiler.Compile(resource + "#" + strings.ReplaceAll(strings.ReplaceAll(pointer, "{", "%7B"), "}", "%7D"))
	if err == nil {
		c.schemas[pointer] = s
	}
	return s, err
}
