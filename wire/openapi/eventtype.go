package openapi

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"teamdata/store"
	"teamdata/wire/eventtype"
	"teamdata/wire/reference"
)

// maxOwn bounds what event types of the operator's own add to a document, in bytes of
// indented JSON. Those that come after are left out.
const maxOwn = 2 << 20

// With returns a document with the event types that the operator registered, in the
// given order, among its webhooks.
func With(d reference.Document, types []store.EventType) (reference.Document, error) {
	names, err := operationsOf(d)
	if err != nil {
		return d, err
	}
	var webhooks object
	size := 0
	for _, e := range types {
		item, err := reference.Marshal(object{{Key: "post", Value: names.webhook(e)}})
		if err != nil {
			return d, err
		}
		var lines bytes.Buffer
		if err := json.Indent(&lines, item, "", "  "); err != nil {
			return d, err
		}
		if size += lines.Len(); size > maxOwn {
			break
		}
		webhooks = append(webhooks, member{Key: e.Name, Value: json.RawMessage(item)})
	}
	return d.With(webhooks)
}

// operationNames are the names of operations that are taken, in lower case.
type operationNames map[string]bool

func operationsOf(d reference.Document) (operationNames, error) {
	type item = map[string]json.RawMessage
	var doc struct{ Paths, Webhooks map[string]item }
	if err := json.Unmarshal(d.JSON, &doc); err != nil {
		return nil, err
	}
	names := operationNames{}
	for _, items := range []map[string]item{doc.Paths, doc.Webhooks} {
		for _, methods := range items {
			for _, text := range methods {
				var operation struct{ OperationID string }
				if json.Unmarshal(text, &operation) == nil {
					names[strings.ToLower(operation.OperationID)] = true
				}
			}
		}
	}
	return names, nil
}

// take returns the name of an event's operation, such as onInvoicePaid, which no other
// has. Languages don't tell names apart by case or by what stands between words.
func (n operationNames) take(eventType string) string {
	first := "on"
	for _, word := range strings.FieldsFunc(eventType, func(r rune) bool { return r == '.' || r == '_' }) {
		first += strings.ToUpper(word[:1]) + word[1:]
	}
	name := first
	for again := 2; n[strings.ToLower(name)]; again++ {
		name = first + strconv.Itoa(again)
	}
	n[strings.ToLower(name)] = true
	return name
}

// object is a JSON object in the order of its members.
type (
	object = reference.Object[any]
	member = reference.Member[any]
)

// signed are the headers of each event. They are not components: oapi-codegen drops
// those that only webhooks use.
var signed = []any{
	header("webhook-id", "The delivery's id. It is the same on every retry and replay.", "^whd_[0-9A-Z]{26}$", "whd_01K60865992206906030338374"),
	header("webhook-timestamp", "When this attempt was signed, in Unix seconds.", `^\d{1,12}$`, "1791288000"),
	header("webhook-signature", "`v1,` and the base64 of an HMAC-SHA256. While a secret is rotated there are several, with a space between.",
		"^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$", "v1,B8qvxOb4QOb6rKLK24I330thuE71ZvWrxSFSEM9/g/4="),
}

func header(name, description, pattern, example string) object {
	return object{
		{Key: "name", Value: name}, {Key: "in", Value: "header"}, {Key: "required", Value: true}, {Key: "description", Value: description},
		{Key: "schema", Value: object{{Key: "type", Value: "string"}, {Key: "pattern", Value: pattern}}}, {Key: "example", Value: example},
	}
}

// webhook is the operation that an event of a type is.
func (n operationNames) webhook(e store.EventType) object {
	data, sample := eventtype.Reduce(e.Schema)
	envelope := object{
		{Key: "description", Value: "The event `" + e.Name + "`."},
		{Key: "type", Value: "object"},
		{Key: "required", Value: []string{"type", "timestamp", "data"}},
		{Key: "properties", Value: object{
			{Key: "type", Value: object{
				{Key: "type", Value: "string"}, {Key: "const", Value: e.Name}, {Key: "description", Value: "The event's type."}, {Key: "examples", Value: []string{e.Name}},
			}},
			{Key: "timestamp", Value: object{{Key: "$ref", Value: "#/components/schemas/Time"}}},
			{Key: "data", Value: data},
		}},
	}
	content := object{{Key: "schema", Value: envelope}}
	if sample != nil {
		event := object{{Key: "type", Value: e.Name}, {Key: "timestamp", Value: "2026-10-06T12:00:00.000Z"}, {Key: "data", Value: sample}}
		content = append(content, member{Key: "examples", Value: object{
			{Key: "event", Value: object{{Key: "summary", Value: "An event of this type"}, {Key: "value", Value: event}}},
		}})
	}
	description := e.Description
	if description == "" {
		description = "The operator has not described this event type."
	}
	return object{
		{Key: "operationId", Value: n.take(e.Name)},
		{Key: "tags", Value: []string{"Webhooks"}},
		{Key: "summary", Value: "An event type of this server's own"},
		{Key: "description", Value: description},
		{Key: "security", Value: []any{}},
		{Key: "parameters", Value: signed},
		{Key: "requestBody", Value: object{{Key: "required", Value: true}, {Key: "content", Value: object{{Key: "application/json", Value: content}}}}},
		{Key: "responses", Value: object{
			{Key: "2XX", Value: object{{Key: "description", Value: "The event is acknowledged. The body is ignored."}}},
			{Key: "default", Value: object{{Key: "description", Value: "The event is retried, at most five times."}}},
		}},
	}
}
