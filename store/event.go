package store

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Event is something that happened in an org, as it is sent.
type Event struct {
	ID        string
	OrgID     string
	Type      string
	CreatedAt time.Time
	Body      []byte // the JSON that receivers get, the same bytes on every attempt

	Deliveries []string // ids of its deliveries, including finished and dropped ones
}

// FirstDelivery returns the id of an event's first delivery: the event's own, with
// the prefix of deliveries.
func FirstDelivery(eventID string) string {
	return PrefixDelivery + strings.TrimPrefix(eventID, PrefixEvent)
}

// newEvent makes an event. Its data is a JSON object.
func newEvent(tx Clock, orgID, eventType string, data []byte) Event {
	now := tx.Now()
	body := append(make([]byte, 0, 64+len(eventType)+len(data)), '{')
	body = appendString(body, "type", eventType)
	body = appendTime(body, "timestamp", now)
	body = append(appendField(body, "data"), data...)
	return Event{
		ID: tx.NewID(PrefixEvent), OrgID: orgID, Type: eventType, CreatedAt: now,
		Body: append(body, '}'),
	}
}

// jsonObject makes a JSON object from alternating names and values.
func jsonObject(pairs ...string) []byte {
	dst := append(make([]byte, 0, 128), '{')
	for i := 0; i+1 < len(pairs); i += 2 {
		dst = appendString(dst, pairs[i], pairs[i+1])
	}
	return append(dst, '}')
}

// addNumber adds a number to an object.
func addNumber(object []byte, name string, n int64) []byte {
	dst := appendField(object[:len(object)-1], name)
	return append(strconv.AppendInt(dst, n, 10), '}')
}

// addObject adds an object to an object.
func addObject(object []byte, name string, value []byte) []byte {
	return append(append(appendField(object[:len(object)-1], name), value...), '}')
}

// Emit records an event and one delivery of it for each endpoint of the org that
// selects its type, in the same transaction as the change that caused it.
// Deliveries to a disabled endpoint wait there until it is enabled. Without the
// webhooks feature an org's events make no deliveries. The data is a JSON object.
// It returns the deliveries; without any, the event is not stored.
func Emit(tx Tx, orgID, eventType string, data []byte) ([]Delivery, error) {
	features, err := Features(tx, orgID)
	if err != nil || !features.Has(FeatureWebhooks) {
		return nil, err
	}
	endpoints, err := tx.Endpoints(orgID)
	if err != nil {
		return nil, err
	}
	endpoints = slices.DeleteFunc(endpoints, func(e Endpoint) bool { return !e.Selects(eventType) })
	if len(endpoints) == 0 {
		return nil, nil
	}
	return queue(tx, newEvent(tx, orgID, eventType, data), endpoints)
}

// auditAndEmit writes the audit entry of a change, as auditBy does, and emits its
// event: both have the same name.
func auditAndEmit(failed error, tx Tx, actorID, orgID, event, targetID string, data []byte) error {
	if err := auditBy(failed, tx, actorID, orgID, event, targetID); err != nil {
		return err
	}
	_, err := Emit(tx, orgID, event, data)
	return err
}
