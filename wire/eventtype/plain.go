package eventtype

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"teamdata/internal/schema"
	"teamdata/wire/reference"
)

// Reduce returns what a document says of the data of an event type, whose JSON
// Schema may be nil, and an example of such data, nil if none could be made. Where
// the document can't say all that the schema says, it has the schema too, as
// x-jsonSchema.
func Reduce(text []byte) (data reference.Object[any], sample json.RawMessage) {
	text = bytes.TrimSpace(text)
	r := reducer{root: text, left: maxParts, room: maxReduced}
	data = r.reduce(text, 0)
	if kind := data.Get("type"); kind != "object" {
		data = completed(append(object{{Key: "type", Value: "object"}}, without(data, "type")...))
	}
	if len(text) == 0 {
		return data, json.RawMessage("{}")
	}
	if r.dropped && isValue(text) {
		data = append(data, member{Key: "x-jsonSchema", Value: clean(text)})
	}
	compiled, err := schema.Compile(text)
	if err != nil {
		return data, nil
	}
	for _, all := range []bool{true, false} { // at last only what is required
		for _, candidate := range append(examplesIn(data), sampleOf(data, all)) {
			text, err := reference.Marshal(candidate)
			if err == nil && text[0] == '{' && len(text) <= maxSample && isValue(text) && compiled.Check(text) == nil {
				return data, text
			}
		}
	}
	return data, nil
}

// object is a JSON object in the order of its members.
type (
	object = reference.Object[any]
	member = reference.Member[any]
)

func without(o object, key string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.Key == key })
}

// reducer turns a JSON Schema into one that every generator of clients takes: with
// one type, or that and null, and without references and choices. Data that
// fits the schema fits that one too; it only says less.
type reducer struct {
	root    json.RawMessage
	left    int  // of maxParts
	room    int  // of maxReduced
	dropped bool // it says less
}

// Bounds of a reduced schema, whose references are replaced by what they lead to.
const (
	maxParts   = 1000
	maxDepth   = 16
	maxReduced = 256 << 10 // bytes of its texts
)

// kept are the keywords that stay as they are, with the form of their values: nobody
// has checked that of a part to which only a reference leads.
var kept = map[string]func(json.RawMessage) bool{
	"title": isText, "description": isText, "format": isText, "pattern": isText,
	"deprecated": isBool, "uniqueItems": isBool, "const": isValue, "default": isValue, "examples": isList,
	"minimum": isNumber, "maximum": isNumber, "exclusiveMinimum": isNumber, "exclusiveMaximum": isNumber, "multipleOf": isNumber,
}

// counts are the keywords whose values are whole numbers, be they written as 2.0.
var counts = []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}

// nested are the keywords whose values are schemas, each reduced for itself.
var nested = []string{"properties", "items", "additionalProperties"}

// silent are the keywords that say nothing of a value.
var silent = []string{"$schema", "$id", "$anchor", "$comment", "$defs", "definitions"}

func (r *reducer) reduce(text json.RawMessage, depth int) object {
	var in reference.Object[json.RawMessage]
	if r.left--; r.left < 0 || r.room < 0 || depth > maxDepth {
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
		if ok && !slices.Contains(nested, m.Key) {
			r.room -= len(m.Value)
			ok = r.room >= 0
		}
		if ok {
			out = append(out, member{Key: m.Key, Value: value})
		} else if !slices.Contains(silent, m.Key) {
			r.dropped = true
		}
	}
	return completed(out)
}

// completed says what generators take too narrowly if nothing is said of it: a list has
// any items, and an object any properties.
func completed(o object) object {
	switch kindOf(o) {
	case "array":
		if o.Get("items") == nil {
			return append(o, member{Key: "items", Value: object{}})
		}
	case "object":
		if o.Get("properties") == nil && o.Get("additionalProperties") == nil {
			return append(o, member{Key: "additionalProperties", Value: true})
		}
	}
	return o
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
			r.room -= len(p.Key)
			out = append(out, member{Key: p.Key, Value: r.reduce(p.Value, depth+1)})
		}
		return out, true
	case "items":
		return r.reduce(value, depth+1), value[0] != '['
	case "additionalProperties":
		if value[0] != '{' {
			return value, isBool(value)
		}
		return r.reduce(value, depth+1), true
	case "enum":
		var texts []string
		return clean(value), isList(value) && json.Unmarshal(value, &texts) == nil
	}
	if slices.Contains(counts, name) {
		return countOf(value)
	}
	holds := kept[name]
	return clean(value), holds != nil && holds(value)
}

func isText(value json.RawMessage) bool { return value[0] == '"' }
func isBool(value json.RawMessage) bool { return value[0] == 't' || value[0] == 'f' }
func isList(value json.RawMessage) bool { return value[0] == '[' && isValue(value) }

func isNumber(value json.RawMessage) bool {
	return strings.IndexByte("-0123456789", value[0]) >= 0 && isValue(value)
}

// isValue reports whether programs can read a value: no number in it, such as 1e999,
// is too large.
func isValue(value json.RawMessage) bool {
	var read any
	return json.Unmarshal(value, &read) == nil
}

// countOf is a whole number in digits.
func countOf(value json.RawMessage) (json.RawMessage, bool) {
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || n < 0 || n > 1<<53 || n != math.Trunc(n) {
		return nil, false
	}
	return strconv.AppendInt(nil, int64(n), 10), true
}

var typeNames = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// typeOf is one type, or one with null.
func typeOf(value json.RawMessage) (any, bool) {
	var one string
	if json.Unmarshal(value, &one) == nil {
		return one, slices.Contains(typeNames, one)
	}
	var list []string
	if json.Unmarshal(value, &list) != nil {
		return nil, false
	}
	others := slices.DeleteFunc(slices.Clone(list), func(name string) bool { return name == "null" })
	switch {
	case len(others) != 1 || !slices.Contains(typeNames, others[0]):
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

// jsonText finds the texts of JSON. It is compiled at first use.
var jsonText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"\\]|\\.)*"`) })

// clean is JSON whose texts are written as this program writes them: some escapes of
// JSON are none in YAML.
func clean(text json.RawMessage) json.RawMessage {
	return jsonText().ReplaceAllFunc(text, func(in []byte) []byte {
		var value string
		_ = json.Unmarshal(in, &value) // a text of valid JSON
		out, _ := reference.Marshal(value)
		return out
	})
}
