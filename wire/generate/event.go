package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// What the webhooks of the Team Data API's description are written to.
const (
	eventTypes  = "wire/eventtype/builtin.json"
	webhookDocs = "docs/webhooks.md"
)

// event is a built-in event type as the description has it.
type event struct {
	name                 string
	Summary, Description string
	RequestBody          struct {
		Content map[string]struct {
			Schema struct {
				Properties struct{ Data yaml.Node }
			}
			Examples struct{ Event struct{ Value yaml.Node } }
		}
	} `yaml:"requestBody"`
}

// events are the webhooks of a description, in their order.
func (c *contents) events() (events []event, err error) {
	for _, webhook := range pairsOf(&c.Webhooks) {
		var item struct{ Post event }
		if err := webhook[1].Decode(&item); err != nil {
			return nil, fmt.Errorf("%s: %w", webhook[0].Value, err)
		}
		item.Post.name = webhook[0].Value
		events = append(events, item.Post)
	}
	return events, nil
}

func (e event) schema() *yaml.Node {
	content := e.RequestBody.Content["application/json"]
	return &content.Schema.Properties.Data
}

func (e event) example() *yaml.Node {
	content := e.RequestBody.Content["application/json"]
	return &content.Examples.Event.Value
}

// writeEvents writes the event types for the program, and their table in its
// documentation.
func (g generator) writeEvents(c *contents) error {
	events, err := c.events()
	if err != nil || len(events) == 0 {
		return err
	}
	types := &yaml.Node{Kind: yaml.MappingNode}
	table, examples := "| type | sent when | `data`, and its fields, which are strings unless stated otherwise |\n|---|---|---|\n", "\nAn example of each:\n"
	for _, e := range events {
		types.Content = append(types.Content, text(e.name), e.asType())
		table += "| `" + e.name + "` | " + e.Description + " | " + e.fields() + " |\n"
		example, err := appendNode(nil, e.example())
		if err != nil {
			return err
		}
		examples += fmt.Sprintf("\n```json %s\n%s\n```\n", e.name, example)
	}
	line, err := appendNode(nil, types)
	if err != nil {
		return err
	}
	var inJSON bytes.Buffer
	if err := json.Indent(&inJSON, line, "", " "); err != nil {
		return err
	}
	inJSON.WriteByte('\n')
	if err := g.write(eventTypes, inJSON.Bytes()); err != nil {
		return err
	}
	return g.writeWithin(webhookDocs, table+examples)
}

// asType is the event type as the program has it.
func (e event) asType() *yaml.Node {
	return mapping("description", text(e.Summary), "meaning", text(e.Description), "example", member(e.example(), "data"), "schema", closed(e.schema()))
}

// closed is a schema reduced to the form of what it describes. Events that an application
// sends may have no properties but those described, where the description lets receivers
// expect more in the future.
func closed(schema *yaml.Node) *yaml.Node {
	schema = resolve(schema)
	form := &yaml.Node{Kind: yaml.MappingNode}
	for _, p := range pairsOf(schema) {
		switch p[0].Value {
		case "type", "required", "minProperties":
			form.Content = append(form.Content, p[0], p[1])
		case "properties":
			properties := &yaml.Node{Kind: yaml.MappingNode}
			for _, property := range pairsOf(p[1]) {
				properties.Content = append(properties.Content, property[0], closed(property[1]))
			}
			form.Content = append(form.Content, p[0], properties)
		}
	}
	if member(schema, "properties") != nil && member(schema, "additionalProperties") == nil {
		form.Content = append(form.Content, mapping("additionalProperties", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "false"}).Content...)
	}
	return form
}

// fields are what the event's data is, and its fields.
func (e event) fields() string {
	var names []string
	for _, p := range pairsOf(resolve(member(e.schema(), "properties"))) {
		name, kind := "`"+p[0].Value+"`", member(p[1], "type").Value
		if kind != "string" {
			name += " (" + kind + ": " + clause(member(p[1], "description").Value) + ")"
		}
		names = append(names, name)
	}
	return strings.TrimSuffix(member(e.schema(), "description").Value, ".") + ": " + strings.Join(names, ", ")
}

// clause is a sentence as a part of another.
func clause(sentence string) string {
	return strings.ToLower(sentence[:1]) + strings.TrimSuffix(sentence[1:], ".")
}

func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// member is the value of a key; nil: there is none.
func member(n *yaml.Node, key string) *yaml.Node {
	pairs := pairsOf(resolve(n))
	i := slices.IndexFunc(pairs, func(p [2]*yaml.Node) bool { return p[0].Value == key })
	if i < 0 {
		return nil
	}
	return pairs[i][1]
}

func text(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// mapping is a node of keys and their values.
func mapping(keysAndValues ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, part := range keysAndValues {
		if key, ok := part.(string); ok {
			part = text(key)
		}
		n.Content = append(n.Content, part.(*yaml.Node))
	}
	return n
}
