package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	yaml "github.com/oasdiff/yaml3"
)

// document is an API's description.
type document struct {
	json []byte
	tree *yaml.Node
}

func (g generator) readDocument(file string) (document, error) {
	text, err := g.read(file)
	if err != nil {
		return document{}, err
	}
	d, err := parse(text)
	if err != nil {
		return document{}, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

// parse reads a document in YAML, and makes the one in JSON, in the same order.
func parse(text []byte) (d document, err error) {
	var file yaml.Node
	if err := yaml.Unmarshal(text, &file); err != nil {
		return d, err
	}
	d.tree = file.Content[0]
	line, err := appendNode(nil, d.tree)
	if err != nil {
		return d, err
	}
	var made bytes.Buffer
	err = json.Indent(&made, line, "", " ")
	made.WriteByte('\n')
	d.json = made.Bytes()
	return d, err
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
