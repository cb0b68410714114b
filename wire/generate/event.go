package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	yaml "github.com/oasdiff/yaml3"
)

// What the webhooks of the Team Data API's description are written to.
const (
	eventTypes  = "wire/eventtype/builtin.json"
	webhookDocs = "docs/webhooks.md"
	signalDocs  = "docs/signals.md" // has the types that begin with signalPrefix

	signalPrefix = "teamdata."
)

const eventHead = "| type | sent when | `data`, and its fields, which are strings unless stated otherwise |\n|---|---|---|\n"

// writeEvents writes the event types that are built in for the program, and their tables
// and examples in its documentation.
func (g generator) writeEvents(c *contents) error {
	webhooks := pairsOf(&c.Webhooks)
	if len(webhooks) == 0 {
		return nil
	}
	types := mapping()
	table := map[string]string{}
	examples := map[string]string{}
	for _, webhook := range webhooks {
		name, post := webhook[0], at(webhook[1], "post")
		content := at(post, "requestBody", "content", "application/json")
		event, data := at(content, "examples", "event", "value"), at(content, "schema", "properties", "data")
		types.Content = append(types.Content, name, mapping("description", at(post, "summary"), "meaning", at(post, "description"),
			"example", at(event, "data"), "schema", closed(data)))
		page := webhookDocs
		if strings.HasPrefix(name.Value, signalPrefix) {
			page = signalDocs
		}
		table[page] += "| `" + name.Value + "` | " + at(post, "description").Value + " | " + fieldsOf(data) + " |\n"
		example, err := inJSON(event)
		if err != nil {
			return err
		}
		examples[page] += fmt.Sprintf("\n```json %s\n%s```\n", name.Value, example)
	}
	made, err := inJSON(types, jsontext.WithIndent(" "))
	if err == nil {
		err = g.write(eventTypes, made)
	}
	if err != nil {
		return err
	}
	for page := range table {
		err = cmp.Or(err, g.writeWithin(page, eventHead+table[page]+"\nAn example of each:\n"+examples[page]))
	}
	return err
}

// closed is a schema reduced to the form of what it describes. Events that an application
// sends may have no properties but those described, where the description lets receivers
// expect more in the future.
func closed(schema *yaml.Node) *yaml.Node {
	form, properties := mapping(), mapping()
	for _, p := range pairsOf(at(schema, "properties")) {
		properties.Content = append(properties.Content, p[0], closed(p[1]))
	}
	for _, keyword := range []string{"type", "properties", "required", "minProperties"} {
		if value := at(schema, keyword); keyword == "properties" && value.Content != nil {
			form.Content = append(form.Content, mapping(keyword, properties).Content...)
		} else if !value.IsZero() {
			form.Content = append(form.Content, mapping(keyword, value).Content...)
		}
	}
	if properties.Content != nil && at(schema, "additionalProperties").IsZero() {
		form.Content = append(form.Content, mapping("additionalProperties", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "false"}).Content...)
	}
	return form
}

// fieldsOf are what the data of an event is, and its fields.
func fieldsOf(data *yaml.Node) string {
	var names []string
	for _, p := range pairsOf(at(data, "properties")) {
		name, kind, is := "`"+p[0].Value+"`", at(p[1], "type").Value, at(p[1], "description").Value
		if kind != "string" {
			name += " (" + kind + ": " + strings.ToLower(is[:1]) + strings.TrimSuffix(is[1:], ".") + ")"
		}
		names = append(names, name)
	}
	return strings.TrimSuffix(at(data, "description").Value, ".") + ": " + strings.Join(names, ", ")
}

// at is the value to which keys lead; the zero node: there is none.
func at(n *yaml.Node, keys ...string) *yaml.Node {
	for i := 0; ; i++ {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		if i == len(keys) {
			return n
		}
		pairs := pairsOf(n)
		found := slices.IndexFunc(pairs, func(p [2]*yaml.Node) bool { return p[0].Value == keys[i] })
		if found < 0 {
			return &yaml.Node{}
		}
		n = pairs[found][1]
	}
}

// mapping is a node of keys, which are texts, and their values.
func mapping(keysAndValues ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, part := range keysAndValues {
		if key, ok := part.(string); ok {
			part = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}
		}
		n.Content = append(n.Content, part.(*yaml.Node))
	}
	return n
}
