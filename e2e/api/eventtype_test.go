package api_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	yaml "github.com/oasdiff/yaml3"

	"teamdata/e2e/kit"
	"teamdata/internal/schema"
	"teamdata/store"
	"teamdata/wire/openapi"
	"teamdata/wire/reference"
)

// ownTypes are event types as operators register them.
var ownTypes = []store.EventType{
	{Name: "invoice.paid", Description: "An invoice was paid.", Schema: []byte(`{"type":"object","required":["invoiceId","lines"],"properties":{` +
		`"invoiceId":{"type":"string","examples":["inv_7"]},"lines":{"type":"array","minItems":1,"items":{"$ref":"#/$defs/line"}},"paidBy":{"type":["string","null"]}},` +
		`"additionalProperties":false,"$defs":{"line":{"type":"object","properties":{"cents":{"type":"integer","minimum":1}}}}}`)},
	{Name: "invoice_paid"},
	{Name: "member", Description: "Its \u2028 name \u0085 is that of a schema: \U0001f600 <b>."},
	{Name: "a", Schema: []byte(`true`)},
	{Name: "choice.made", Schema: []byte(`{"oneOf":[{"required":["a"]},{"required":["b"]}],"properties":{"a":{"type":["string","integer"]},"b":{"type":"boolean"}}}`)},
	{Name: "tree.grown", Schema: []byte(`{"type":"object","properties":{"left":{"$ref":"#"},"right":{"$ref":"#"}}}`)},
	{Name: "old.draft", Schema: []byte(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","examples":[{"pair":1},{"pair":["x",2]}],"properties":{"pair":{"type":"array","items":[{"type":"string"},{"type":"number"}]}}}`)},
	{Name: "never.sent", Schema: []byte(`false`)},
	{Name: "null"},
	{Name: "1.5"},
	{Name: "unusual.numbers", Schema: []byte(`{"properties":{"a":{"type":"string","minLength":2.0,"maxLength":1e3},"b":{"default":1e999,"maximum":1e999}}}`)},
	{Name: "unchecked.part", Schema: []byte(`{"x":{"title":1,"description":5,"examples":null},"properties":{"a":{"$ref":"#/x"}}}`)},
}

// The documents with event types of the operator's own are sound; YAML and JSON say
// the same; each schema takes what the operator's takes; and each example fits the
// operator's.
func TestOwnEventTypes(t *testing.T) {
	for version, d := range documents(t) {
		with, err := openapi.With(d, ownTypes)
		kit.Must(t, err)
		doc := sound(t, with)
		var inJSON, inYAML any
		kit.Must(t, json.Unmarshal(with.JSON, &inJSON))
		kit.Must(t, yaml.Unmarshal(with.YAML, &inYAML))
		delete(inYAML.(map[string]any), "x-anchors")
		again, err := json.Marshal(inYAML)
		kit.Must(t, err)
		var fromYAML any
		if err := json.Unmarshal(again, &fromYAML); err != nil || !reflect.DeepEqual(inJSON, fromYAML) {
			t.Errorf("%s: YAML and JSON differ: %v", version, err)
		}
		if _, err := reference.New(with, reference.Links{}); err != nil {
			t.Errorf("%s: the page: %v", version, err)
		}
		for _, e := range ownTypes {
			holdOwn(t, doc, e)
		}
		if len(doc.Webhooks) != len(store.BuiltInEventTypes)+len(ownTypes) {
			t.Errorf("%d webhooks", len(doc.Webhooks))
		}
	}
}

func holdOwn(t *testing.T, doc *openapi3.T, e store.EventType) {
	t.Helper()
	item := doc.Webhooks[e.Name]
	if item == nil {
		t.Fatalf("%s is missing", e.Name)
	}
	content := item.Post.RequestBody.Value.Content["application/json"]
	example := content.Examples["event"]
	if example == nil {
		if e.Name != "never.sent" && e.Name != "choice.made" {
			t.Errorf("%s has no example", e.Name)
		}
		return
	}
	data, err := json.Marshal(example.Value.Value.(map[string]any)["data"])
	kit.Must(t, err)
	if e.Schema == nil {
		return
	}
	compiled, err := schema.Compile(e.Schema)
	kit.Must(t, err)
	if err := compiled.Check(data); err != nil {
		t.Errorf("%s: the example %s: %v", e.Name, data, err)
	}
}
