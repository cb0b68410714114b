package eventtype

import (
	"encoding/json"
	"slices"
	"strings"

	"teamdata/wire/reference"
)

// examplesIn are the examples that a reduced schema has.
func examplesIn(o object) (list []any) {
	text, _ := o.Get("examples").(json.RawMessage)
	var examples []json.RawMessage
	_ = json.Unmarshal(text, &examples)
	for _, e := range examples {
		list = append(list, e)
	}
	return list
}

// sampleOf makes a value that most likely fits a reduced schema. all: with the
// properties that may be left out.
func sampleOf(o object, all bool) any {
	if list := examplesIn(o); list != nil {
		return list[0]
	}
	for _, keyword := range []string{"const", "default"} {
		if value := o.Get(keyword); value != nil {
			return value
		}
	}
	var choices []json.RawMessage
	if text, ok := o.Get("enum").(json.RawMessage); ok && json.Unmarshal(text, &choices) == nil && len(choices) > 0 {
		return choices[0]
	}
	switch kindOf(o) {
	case "object":
		return sampleObject(o, all)
	case "array":
		items, _ := o.Get("items").(object)
		return sampleList(sampleOf(items, all), number(o, "minItems", 1))
	case "integer", "number":
		return number(o, "minimum", number(o, "exclusiveMinimum", 0)+1)
	case "boolean":
		return true
	case "null":
		return nil
	}
	return sampleText(o)
}

// maxSample bounds an example, in bytes, like the data of an event.
const maxSample = 64 << 10

// sampleList has as many items as are required, unless that makes it large: lists may
// be nested.
func sampleList(item any, least int) []any {
	text, err := reference.Marshal(item)
	if least = max(1, min(least, 10)); err != nil || least*len(text) > maxSample {
		least = 1
	}
	return slices.Repeat([]any{item}, least)
}

// kindOf is the type of a reduced schema, whether or not null is one too; empty: any.
func kindOf(o object) string {
	if list, ok := o.Get("type").([]string); ok {
		return list[0]
	}
	kind, _ := o.Get("type").(string)
	return kind
}

func sampleObject(o object, all bool) any {
	properties, _ := o.Get("properties").(object)
	required, _ := o.Get("required").([]string)
	sample := object{}
	for _, p := range properties {
		if value, ok := p.Value.(object); ok && (all || slices.Contains(required, p.Key)) {
			sample = append(sample, member{Key: p.Key, Value: sampleOf(value, all)})
		}
	}
	return sample
}

// samples are texts of formats.
var samples = map[string]string{
	"date-time": "2026-10-06T12:00:00.000Z", "date": "2026-10-06", "time": "12:00:00Z", "duration": "PT1H",
	"email": "ada@acme.example", "hostname": "acme.example", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
	"uri": "https://acme.example/", "uri-reference": "/", "uuid": "4f8a6c1e-7d52-4c7a-9f0a-2b7c1d9e8f10",
}

func sampleText(o object) string {
	var format string
	text, _ := o.Get("format").(json.RawMessage)
	_ = json.Unmarshal(text, &format)
	if sample, ok := samples[format]; ok {
		return sample
	}
	sample := "text"
	if least := number(o, "minLength", 0); least > len(sample) && least <= 1000 {
		sample = strings.Repeat("x", least)
	}
	return sample[:max(0, min(len(sample), number(o, "maxLength", len(sample))))]
}

// number is a keyword's whole number.
func number(o object, keyword string, otherwise int) int {
	text, _ := o.Get(keyword).(json.RawMessage)
	n := otherwise
	if json.Unmarshal(text, &n) != nil {
		return otherwise
	}
	return n
}
