package pgstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var eventTypes = records[store.EventType]{table: define("event_types", 1, text("name"), blob("record")), noun: "event type", fields: codec.EventType}

func (t *tx) EventType(name string) (store.EventType, error) { return eventTypes.get(t, name) }

func (t *tx) EventTypes() ([]store.EventType, error) { return eventTypes.list(t, "", all) }

func (t *tx) PutEventType(e store.EventType) error {
	t.Retyped = true
	return eventTypes.put(t, e, e.Name)
}

func (t *tx) DeleteEventType(name string) error {
	t.Retyped = true
	return eventTypes.remove(t, name)
}
