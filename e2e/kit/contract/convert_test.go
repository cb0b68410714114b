package contract_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"

	"teamdata/e2e/kit"
)

// Each document in JSON is what the one in YAML says.
func TestJSONIsMadeFromYAML(t *testing.T) {
	for _, source := range documents(t) {
		holdJSON(t, source, *update)
	}
}

func TestHoldJSON(t *testing.T) {
	source := filepath.Join(t.TempDir(), "a.yaml")
	write := func(name, text string) {
		t.Helper()
		kit.WriteFile(t, name, text)
	}
	write(source, "x-anchors:\n  both: &both {z: 1, a: <b>}\nlist: &list [\"1\", 2.5, true, null]\nmerged:\n  first: *list\n  <<: *both\n  last: 2026\n")
	const want = `{"list":["1",2.5,true,null],"merged":{"first":["1",2.5,true,null],"z":1,"a":"<b>","last":2026}}`
	l := &listener{TB: t}
	write(strings.TrimSuffix(source, ".yaml")+".json", "{}")
	holdJSON(l, source, false)
	if len(l.heard) != 1 || !strings.Contains(l.heard[0], "-update") {
		t.Errorf("heard %q", l.heard)
	}
	holdJSON(l, source, true)
	made, err := os.ReadFile(strings.TrimSuffix(source, ".yaml") + ".json")
	if got := strings.Map(withoutSpace, string(made)); err != nil || got != want || len(l.heard) != 1 {
		t.Errorf("got  %s\nwant %s\n%v, heard %q", got, want, err, l.heard)
	}
}

func withoutSpace(r rune) rune {
	if r == ' ' || r == '\n' {
		return -1
	}
	return r
}

// update writes the documents that are made from those in YAML, instead of checking
// them.
var update = flag.Bool("update", false, "make the documents in JSON from those in YAML")

// holdJSON checks that a document in JSON is the one in YAML beside it, in the same
// order, or makes it so.
func holdJSON(t testing.TB, source string, write bool) {
	t.Helper()
	made, err := toJSON(source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	name := strings.TrimSuffix(source, ".yaml") + ".json"
	if write {
		kit.Must(t, os.WriteFile(name, made, 0o644))
	}
	if kept, _ := os.ReadFile(name); !bytes.Equal(kept, made) {
		t.Errorf("%s is not what %s says; make it anew with go test ./e2e/kit/contract -update", name, source)
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
