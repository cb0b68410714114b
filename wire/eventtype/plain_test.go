package eventtype

import (
	"fmt"
	"strings"
	"testing"

	"teamdata/wire/reference"
)

// What a generator can't take is not in the schema, and the whole one is beside it.
func TestReducedSchemas(t *testing.T) {
	for _, row := range []struct{ schema, want, sample string }{
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{"a":"text"}`},
		{`{"type":["null","object"]}`, `{"type":"object","additionalProperties":true}`, `{}`},
		{`{"properties":{"a":{"type":"object"},"b":{"type":["array","null"]}}}`, `{"type":"object","properties":{"a":{"type":"object","additionalProperties":true},"b":{"type":["array","null"],"items":{}}}}`, `{"a":{},"b":["text"]}`},
		{`{"properties":{"a":{"type":["string","null"],"format":"date"}}}`, `{"type":"object","properties":{"a":{"type":["string","null"],"format":"date"}}}`, `{"a":"2026-10-06"}`},
		{`{"required":["b"]}`, `{"type":"object","additionalProperties":true,"x-jsonSchema":{"required":["b"]}}`, ``},
		{`{"patternProperties":{"^x":{}},"additionalProperties":false}`, `{"type":"object","additionalProperties":true,"x-jsonSchema":{"patternProperties":{"^x":{}},"additionalProperties":false}}`, `{}`},
		{`{"properties":{"a":{"enum":["x","y"],"type":"string"},"b":{"enum":[1,"x"]}}}`, `{"type":"object","properties":{"a":{"enum":["x","y"],"type":"string"},"b":{}},"x-jsonSchema":{"properties":{"a":{"enum":["x","y"],"type":"string"},"b":{"enum":[1,"x"]}}}}`, `{}`},
		{` {"properties":{"a":{"type":"array"}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{}}}}`, `{"a":["text"]}`},
		{`{"properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"type":"integer","minimum":7}}}`, `{"type":"object","properties":{"a":{"type":"integer","minimum":7}}}`, `{"a":7}`},
		{`{"properties":{"a":{"$anchor":"x"},"b":{"$ref":"#x"}}}`, `{"type":"object","properties":{"a":{},"b":{}},"x-jsonSchema":{"properties":{"a":{"$anchor":"x"},"b":{"$ref":"#x"}}}}`, `{"a":"text","b":"text"}`},
		{`{"properties":{"a":{"type":"string","minLength":2.0}}}`, `{"type":"object","properties":{"a":{"type":"string","minLength":2}}}`, `{"a":"text"}`},
		{`{"properties":{"a":{"const":1e999}}}`, `{"type":"object","properties":{"a":{}}}`, `{}`},
		{`{"examples":[5]}`, `{"type":"object","examples":[5],"additionalProperties":true}`, ``},
		{`{"examples":[{"a":1e999}]}`, `{"type":"object","additionalProperties":true}`, `{}`},
		{`{"x":{"description":5,"additionalProperties":5},"properties":{"a":{"$ref":"#/x"}}}`, `{"type":"object","properties":{"a":{}},"x-jsonSchema":{"x":{"description":5,"additionalProperties":5},"properties":{"a":{"$ref":"#/x"}}}}`, ``},
	} {
		data, sample := Reduce([]byte(row.schema))
		text, err := reference.Marshal(data)
		if err != nil || string(text) != row.want || string(sample) != row.sample {
			t.Errorf("%s\ngot  %s %s\nwant %s %s\n%v", row.schema, text, sample, row.want, row.sample, err)
		}
	}
}

// A schema whose references double at each step, or that leads to itself, makes a
// bounded document.
func TestReducedSchemasAreBounded(t *testing.T) {
	var defs []string
	for i := range 40 {
		defs = append(defs, fmt.Sprintf(`"d%d":{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`, i, i+1, i+1))
	}
	text := `{"$ref":"#/$defs/d0","$defs":{` + strings.Join(defs, ",") + `,"d40":{}}}`
	data, _ := Reduce([]byte(text))
	if inJSON, err := reference.Marshal(data); err != nil || len(inJSON) > 100*maxParts {
		t.Errorf("%d bytes, %v", len(inJSON), err)
	}
	long := []string{}
	for i := range 900 {
		long = append(long, fmt.Sprintf(`"p%d":{"$ref":"#/$defs/d"}`, i))
	}
	text = `{"properties":{` + strings.Join(long, ",") + `},"$defs":{"d":{"description":"` + strings.Repeat("x", 40<<10) + `"}}}`
	data, _ = Reduce([]byte(text))
	if inJSON, err := reference.Marshal(data); err != nil || len(inJSON) > maxReduced+2*len(text) {
		t.Errorf("a long description makes %d bytes, %v", len(inJSON), err)
	}
	lists := `{"type":"string"}`
	for range 6 {
		lists = `{"type":"array","minItems":10,"items":` + lists + `}`
	}
	data, _ = Reduce([]byte(`{"required":["a"],"properties":{"a":` + lists + `}}`))
	if sample, err := reference.Marshal(sampleOf(data, true)); err != nil || len(sample) > 2*maxSample {
		t.Errorf("lists of lists make an example of %d bytes, %v", len(sample), err)
	}
}
