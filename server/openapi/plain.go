package openapi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"teamdata/internal/reference"
	"teamdata/internal/schema"
)

// dataOf returns what a document says of the data of an event type, whose JSON
// Schema may be nil, and an example of such data, nil if none could be made. Where
// the document can't say all that the schema says, it has the schema too, as
// x-jsonSchema.
func dataOf(text []byte) (data object, sample json.RawMessage) {
	text = bytes.TrimSpace(text)
	r := reducer{root: text, left: maxParts}
	data = r.reduce(text, 0)
	if kind := data.Get("type"); kind != "object" {
		data = append(object{{Key: "type", Value: "object"}}, without(data, "type")...)
	}
	if len(text) == 0 {
		return data, json.RawMessage("{}")
	}
	if r.dropped {
		data = append(data, member{Key: "x-jsonSchema", Value: clean(text)})
	}
	compiled, err := schema.Compile(text)
	if err != nil {
		return data, nil
	}
	for _, all := range []bool{true, false} { // at last only what is required
		for _, candidate := range append(examplesIn(data), sampleOf(data, all)) {
			if text, err := reference.Marshal(candidate); err == nil && compiled.Check(text) == nil {
				return data, text
			}
		}
	}
	return data, nil
}

func without(o object, key string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.Key == key })
}

// reducer turns a JSON Schema into one that every generator of clients takes: with
// one type, or that and null, and without references and choices. What fits the
// schema fits that too; it only says less.
type reducer struct {
	root    json.RawMessage
	left    int  // of maxParts
	dropped bool // it says less
}

// Bounds of a reduced schema, whose references are replaced by what they lead to.
const (
	maxParts = 1000
	maxDepth = 16
)

// kept are the keywords that stay as they are.
var kept = []string{
	"title", "description", "deprecated", "format", "pattern", "const", "default", "examples",
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
	"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
}

// silent are the keywords that say nothing of a value.
var silent = []string{"$schema", "$id", "$anchor", "$comment", "$defs", "definitions"}

func (r *reducer) reduce(text json.RawMessage, depth int) object {
	var in reference.Object[json.RawMessage]
	if r.left--; r.left < 0 || depth > maxDepth {
		r.dropped = true
		return object{}
	}
	if err := json.Unmarshal(text, &in); err != nil { // true, false, or no schema
		r.dropped = r.dropped || string(text) == "false"
		return object{}
	}
	if depth > 0 && in.Get("$id") != nil { // references in it start there
		r.dropped = true
		return object{}
	}
	if to := in.Get("$ref"); to != nil {
		r.dropped = r.dropped || len(in) > 1
		return r.reduce(r.find(to), depth+1)
	}
	out, known := object{}, in.Get("properties")
	for _, m := range in {
		value, ok := r.keyword(m.Key, m.Value, depth)
		switch {
		case m.Key == "additionalProperties" && in.Get("patternProperties") != nil, m.Key == "enum" && string(in.Get("type")) != `"string"`:
			ok = false
		case m.Key == "required":
			value, ok = r.required(m.Value, known)
		}
		if ok {
			out = append(out, member{Key: m.Key, Value: value})
		} else if !slices.Contains(silent, m.Key) {
			r.dropped = true
		}
	}
	if out.Get("type") == "array" && out.Get("items") == nil {
		out = append(out, member{Key: "items", Value: object{}})
	}
	return out
}

// keyword is what is left of a keyword's value.
func (r *reducer) keyword(name string, value json.RawMessage, depth int) (any, bool) {
	switch name {
	case "type":
		return typeOf(value)
	case "properties":
		var in reference.Object[json.RawMessage]
		if json.Unmarshal(value, &in) != nil {
			return nil, false
		}
		out := object{}
		for _, p := range in {
			out = append(out, member{Key: p.Key, Value: r.reduce(p.Value, depth+1)})
		}
		return out, true
	case "items":
		return r.reduce(value, depth+1), value[0] != '['
	case "additionalProperties":
		if value[0] != '{' {
			return value, true
		}
		return r.reduce(value, depth+1), true
	case "enum":
		var texts []string
		return clean(value), json.Unmarshal(value, &texts) == nil
	}
	return clean(value), slices.Contains(kept, name)
}

// typeOf is one type, or one with null.
func typeOf(value json.RawMessage) (any, bool) {
	var one string
	if json.Unmarshal(value, &one) == nil {
		return one, true
	}
	var list []string
	if json.Unmarshal(value, &list) != nil {
		return nil, false
	}
	others := slices.DeleteFunc(slices.Clone(list), func(name string) bool { return name == "null" })
	switch {
	case len(others) != 1:
		return nil, false
	case len(others) < len(list):
		return []string{others[0], "null"}, true
	}
	return others[0], true
}

// required are the required properties that are described.
func (r *reducer) required(value, properties json.RawMessage) (any, bool) {
	var names []string
	var known map[string]json.RawMessage
	if json.Unmarshal(value, &names) != nil || json.Unmarshal(properties, &known) != nil {
		return nil, false
	}
	described := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return known[name] == nil })
	r.dropped = r.dropped || len(described) < len(names)
	return described, len(described) > 0
}

// find returns what a reference leads to within the schema; nil: nothing, or nothing
// that is found by its place.
func (r *reducer) find(reference json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(reference, &text) != nil || text != "#" && !strings.HasPrefix(text, "#/") {
		r.dropped = true
		return nil
	}
	at := r.root
	for step := range strings.SplitSeq(strings.TrimPrefix(text, "#"), "/") {
		if step == "" {
			continue
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(at, &members) != nil || members[unescape.Replace(step)] == nil {
			r.dropped = true
			return nil
		}
		at = members[unescape.Replace(step)]
	}
	return at
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// clean is JSON whose texts are written as this program writes them: some escapes of
// JSON are none in YAML.
func clean(text json.RawMessage) json.RawMessage {
	var value any
	switch text[0] {
	case '{':
		var in reference.Object[json.RawMessage]
		_ = json.Unmarshal(text, &in)
		for i := range in {
			in[i].Value = clean(in[i].Value)
		}
		value = in
	case '[':
		var in []json.RawMessage
		_ = json.Unmarshal(text, &in)
		for i := range in {
			in[i] = clean(in[i])
		}
		value = in
	case '"':
		var in string
		_ = json.Unmarshal(text, &in)
		value = in
	default:
		return text
	}
	cleaned, err := reference.Marshal(value)
	if err != nil {
		return text
	}
	return cleaned
}
