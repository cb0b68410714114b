package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
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
	d.json, err = inJSON(d.tree, jsontext.WithIndent(" "))
	return d, err
}

// inJSON is a node as JSON, with a line feed behind it.
func inJSON(n *yaml.Node, form ...jsontext.Options) ([]byte, error) {
	var made bytes.Buffer
	err := writeNode(jsontext.NewEncoder(&made, form...), n)
	return made.Bytes(), err
}

// writeNode writes a node; unlike a map it keeps the order.
func writeNode(to *jsontext.Encoder, n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return writeNode(to, n.Alias)
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str":
		return to.WriteToken(jsontext.String(n.Value))
	case n.Kind == yaml.ScalarNode:
		return to.WriteValue(jsontext.Value(n.Value))
	case n.Kind == yaml.SequenceNode:
		err := to.WriteToken(jsontext.BeginArray)
		for _, item := range n.Content {
			err = errors.Join(err, writeNode(to, item))
		}
		return errors.Join(err, to.WriteToken(jsontext.EndArray))
	}
	err := to.WriteToken(jsontext.BeginObject)
	for _, p := range pairsOf(n) {
		err = errors.Join(err, to.WriteToken(jsontext.String(p[0].Value)), writeNode(to, p[1]))
	}
	return errors.Join(err, to.WriteToken(jsontext.EndObject))
}

// pairsOf are the keys and values of a mapping, those that are merged into it
// among them unless it has its own. x-anchors is for YAML alone.
func pairsOf(n *yaml.Node) (pairs [][2]*yaml.Node) {
	own := slices.Collect(slices.Chunk(n.Content, 2))
	for _, pair := range own {
		switch key, value := pair[0], pair[1]; key.Value {
		case "<<":
			for _, p := range pairsOf(value.Alias) {
				if !slices.ContainsFunc(own, func(other []*yaml.Node) bool { return other[0].Value == p[0].Value }) {
					pairs = append(pairs, p)
				}
			}
		case "x-anchors":
		default:
			pairs = append(pairs, [2]*yaml.Node{key, value})
		}
	}
	return pairs
}
