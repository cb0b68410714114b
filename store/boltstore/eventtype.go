package boltstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var eventTypes = table[store.EventType]{bucket: bucketEventTypes, noun: "event type", fields: codec.EventType}

func (t *tx) EventType(name string) (store.EventType, error) {
	return eventTypes.get(t, []byte(name))
}

func (t *tx) EventTypes() ([]store.EventType, error) { return eventTypes.list(t, "", all) }

func (t *tx) PutEventType(e store.EventType) error {
	t.Retyped = true
	return eventTypes.put(t, []byte(e.Name), e)
}

func (t *tx) DeleteEventType(name string) error {
	t.Retyped = true
	return eventTypes.delete(t, []byte(name))
}
