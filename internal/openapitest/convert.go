package openapitest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"
)

// Update writes the documents that are made from openapi.yaml, instead of checking
// them.
var Update = flag.Bool("update", false, "make openapi.json from openapi.yaml")

// HoldJSON checks that a document in JSON is the one in YAML beside it, in the same
// order.
func HoldJSON(t testing.TB, source string) {
	t.Helper()
	made, err := toJSON(source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	name := strings.TrimSuffix(source, ".yaml") + ".json"
	if *Update {
		if err := os.WriteFile(name, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, _ := os.ReadFile(name); !bytes.Equal(kept, made) {
		t.Errorf("%s is not what %s says; make it anew with go test -update in its folder", name, source)
	}
}

func toJSON(source string) ([]byte, error) {
	text, err := os.ReadFile(source)
	if err != nil {
		return nil, err
	}
	var tree yaml.Node
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	line, err := appendNode(nil, tree.Content[0])
	if err != nil {
		return nil, err
	}
	var made bytes.Buffer
	err = json.Indent(&made, line, "", " ")
	made.WriteByte('\n')
	return made.Bytes(), err
}

// appendNode appends a node as JSON; unlike a map it keeps the order.
func appendNode(dst []byte, n *yaml.Node) (_ []byte, err error) {
	switch n.Kind {
	case yaml.AliasNode:
		return appendNode(dst, n.Alias)
	case yaml.ScalarNode:
		return appendScalar(dst, n)
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, item := range n.Content {
			if dst, err = appendNode(appendComma(dst, i), item); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	}
	dst = append(dst, '{')
	for i, p := range pairsOf(n) {
		key, _ := json.Marshal(p[0].Value)
		dst = append(append(appendComma(dst, i), key...), ':')
		if dst, err = appendNode(dst, p[1]); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// pairsOf are the keys and values of a mapping, those that are merged into it
// among them. x-anchors is for YAML alone.
func pairsOf(n *yaml.Node) (pairs [][2]*yaml.Node) {
	for i := 0; i < len(n.Content); i += 2 {
		switch key, value := n.Content[i], n.Content[i+1]; key.Value {
		case "<<":
			pairs = append(pairs, pairsOf(value.Alias)...)
		case "x-anchors":
		default:
			pairs = append(pairs, [2]*yaml.Node{key, value})
		}
	}
	return pairs
}

func appendComma(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return dst
}

func appendScalar(dst []byte, n *yaml.Node) ([]byte, error) {
	var value any
	if err := n.Decode(&value); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("line %d: %w", n.Line, err)
	}
	return append(dst, bytes.TrimSpace(text.Bytes())...), nil
}
