package eventtype

import (
	"encoding/json"

	"teamdata/store"
	"teamdata/wire/reference"
)

// Test is what a test of an event type sends.
type Test struct {
	Type string
	Data []byte // nil for webhook.test, whose data names its endpoint
}

// TestOf makes the test of a type: its example, in which the org is the one that it is
// sent in if the type is built in. badRequest: there is no such type, or no example
// could be made from its schema.
func TestOf(tx store.Tx, orgID, name string) (Test, error) {
	if name == "" || name == store.EventWebhookTest {
		return Test{Type: store.EventWebhookTest}, nil
	}
	t, err := Find(tx, name)
	switch {
	case store.IsNotFound(err):
		return Test{}, store.NoEventType("type", name)
	case err != nil:
		return Test{}, err
	case t.Example == nil:
		return Test{}, store.Invalid("type", "%s has no example", name).Advise("the operator adds one to its schema, as the first of its examples")
	}
	text, err := t.exampleIn(orgID)
	return Test{name, text}, err
}

// exampleIn is the example of the type, in which the org is the given one if the type is
// built in.
func (t Type) exampleIn(orgID string) (json.RawMessage, error) {
	if !store.IsBuiltInEventType(t.Name) {
		return t.Example, nil
	}
	var data reference.Object[json.RawMessage]
	err := json.Unmarshal(t.Example, &data)
	for i := range data {
		if err == nil && data[i].Key == "orgId" {
			data[i].Value, err = reference.Marshal(orgID)
		}
	}
	if err != nil {
		return nil, err
	}
	return reference.Marshal(data)
}

// exampleTime is when the events of examples happened.
const exampleTime = "2026-10-06T12:00:00.000Z"

// Body is a whole event of the type, as an endpoint of the org would get it, with the
// type's example; nil: it has none.
func (t Type) Body(orgID string) ([]byte, error) {
	if t.Example == nil {
		return nil, nil
	}
	data, err := t.exampleIn(orgID)
	if err != nil {
		return nil, err
	}
	return reference.Marshal(object{{Key: "type", Value: t.Name}, {Key: "timestamp", Value: exampleTime}, {Key: "data", Value: data}})
}

// Send sends the test to an endpoint, whatever it selects, and makes no audit entry.
// notFound: the org has no such endpoint; conflict: it is disabled.
func (t Test) Send(tx store.Tx, orgID, endpointID string) (store.Delivery, error) {
	if t.Data == nil {
		return store.SendTest(tx, orgID, endpointID)
	}
	return store.SendExample(tx, orgID, endpointID, t.Type, t.Data)
}
