package eventtype

import (
	"encoding/json"

	"teamdata/internal/reference"
	"teamdata/store"
)

// Test is what a test of an event type sends.
type Test struct {
	Type string
	Data []byte // nil for webhook.test, whose data names its endpoint
}

// TestOf makes the test of a type: its example, in which the org is the one that it is
// sent in if the type is built in. badRequest: there is no such type, or no example
// could be made from its schema.
func TestOf(tx store.EventTypes, orgID, name string) (Test, error) {
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
	case !store.IsBuiltInEventType(name):
		return Test{name, t.Example}, nil
	}
	var data reference.Object[json.RawMessage]
	if err := json.Unmarshal(t.Example, &data); err != nil {
		return Test{}, err
	}
	for i := range data {
		if data[i].Key == "orgId" {
			if data[i].Value, err = reference.Marshal(orgID); err != nil {
				return Test{}, err
			}
		}
	}
	text, err := reference.Marshal(data)
	return Test{name, text}, err
}

// Send sends the test to an endpoint, whatever it selects, and makes no audit entry.
// notFound: the org has no such endpoint; conflict: it is disabled.
func (t Test) Send(tx store.Tx, orgID, endpointID string) (store.Delivery, error) {
	if t.Data == nil {
		return store.SendTest(tx, orgID, endpointID)
	}
	return store.SendExample(tx, orgID, endpointID, t.Type, t.Data)
}
