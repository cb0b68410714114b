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
	own, err := operationsOf(d)
	if err != nil {
		return d, err
	}
	var webhooks reference.Object[json.RawMessage]
	size := 0
	for _, e := range types {
		item, err := reference.Marshal(object{{Key: "post", Value: own.webhook(e)}})
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
		webhooks = append(webhooks, reference.Member[json.RawMessage]{Key: e.Name, Value: item})
	}
	return d.With(webhooks)
}

// operations are what webhooks take from those of a document.
type operations struct {
	taken map[string]bool // names, in lower case
	like  struct {        // any of its webhooks, which have the same headers and answers
		Tags, Security, Parameters, Responses json.RawMessage
	}
}

func operationsOf(d reference.Document) (o operations, err error) {
	type item = map[string]json.RawMessage
	var doc struct{ Paths, Webhooks map[string]item }
	if err := json.Unmarshal(d.JSON, &doc); err != nil {
		return o, err
	}
	o.taken = map[string]bool{}
	for _, items := range []map[string]item{doc.Paths, doc.Webhooks} {
		for _, methods := range items {
			for _, text := range methods {
				var operation struct{ OperationID string }
				if json.Unmarshal(text, &operation) == nil {
					o.taken[strings.ToLower(operation.OperationID)] = true
				}
			}
		}
	}
	return o, json.Unmarshal(doc.Webhooks[store.EventWebhookTest]["post"], &o.like)
}

// take returns the name of an event's operation, such as onInvoicePaid, which no other
// has. Languages don't tell names apart by case or by what stands between words.
func (o operations) take(eventType string) string {
	first := "on"
	for _, word := range strings.FieldsFunc(eventType, func(r rune) bool { return r == '.' || r == '_' }) {
		first += strings.ToUpper(word[:1]) + word[1:]
	}
	name := first
	for again := 2; o.taken[strings.ToLower(name)]; again++ {
		name = first + strconv.Itoa(again)
	}
	o.taken[strings.ToLower(name)] = true
	return name
}

// object is a JSON object in the order of its members.
type (
	object = reference.Object[any]
	member = reference.Member[any]
)

// webhook is the operation that an event of a type is.
func (o operations) webhook(e store.EventType) object {
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
		{Key: "operationId", Value: o.take(e.Name)},
		{Key: "tags", Value: o.like.Tags},
		{Key: "summary", Value: "An event type of this server's own"},
		{Key: "description", Value: description},
		{Key: "security", Value: o.like.Security},
		{Key: "parameters", Value: o.like.Parameters},
		{Key: "requestBody", Value: object{{Key: "required", Value: true}, {Key: "content", Value: object{{Key: "application/json", Value: content}}}}},
		{Key: "responses", Value: o.like.Responses},
	}
}
