package store

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"teamdata/store/rows"
)

// events are those that don't share the row of their only delivery.
var events = rows.Define(&rows.Table[Event]{
	Kind: rows.Kind{Name: "events", Noun: "event"},
	Key:  func(dst []byte, e *Event) []byte { return append(dst, e.ID...) },
	Fields: func(c *rows.Codec, e *Event) {
		eventHead(c, e)
		c.Texts(&e.Deliveries)
	},
	Owner: func(e *Event) rows.Owner { return rows.Owner{Org: e.OrgID} },
	Only:  func(e *Event) Event { return Event{ID: e.ID, OrgID: e.OrgID} },
})

func init() { events.Checks = checkEvent }

// eventHead codes the first fields of an event, up to its body.
func eventHead(c *rows.Codec, e *Event) {
	c.Text(&e.ID)
	c.Text(&e.OrgID)
	c.Text(&e.Type)
	c.Time(&e.CreatedAt)
	c.Bytes(&e.Body)
}

// checkEvent checks that an event still has a delivery, and that none has it in its row.
func checkEvent(c *rows.Checker, key []byte, e *Event) {
	id, named, found := e.ID, len(e.Deliveries), 0
	looks := e.Deliveries
	if first := FirstDelivery(id); !e.names(first) {
		looks = append(looks, first)
	}
	left := len(looks)
	for i, delivery := range looks {
		c.Look(&deliveries.Kind, []byte(delivery), func(value []byte) {
			if head := rows.HeadOf(value); value != nil && len(head.Raw()) > 0 {
				c.Fault("deliveries %q: must not hold the event %q", delivery, id)
			}
			if value != nil && i < named {
				found++
			}
			if left--; left == 0 && found == 0 {
				c.Fault("events %q: none of its deliveries exists", id)
			}
		})
	}
}

// EventBody returns a copy of the body in the stored value of an event, and reads no more
// of it.
func EventBody(value []byte) ([]byte, error) {
	c, e := rows.HeadOf(value), Event{}
	eventHead(&c, &e)
	return e.Body, stored(c.Err())
}

// AddEvent adds an event and its deliveries, whose ids the event lists. A short event shares
// the row of its only delivery, which every attempt writes again.
func (t Tx) AddEvent(e Event, list []Delivery) error {
	if len(list) == 1 && canShare(&e, &list[0]) && len(e.Body) <= t.Rewritable() {
		return t.insertDelivery(&deliveryRow{e.Body, list[0]})
	}
	if err := events.Insert(t.Tx, &e); err != nil {
		return err
	}
	for i := range list {
		if err := t.insertDelivery(&deliveryRow{nil, list[i]}); err != nil {
			return err
		}
	}
	return nil
}

// canShare reports whether an event can share its delivery's row: all but the body is in
// there anyway.
func canShare(e *Event, d *Delivery) bool {
	return len(e.Body) > 0 && d.isFirst() && e.ID == d.EventID && e.OrgID == d.OrgID &&
		e.Type == d.EventType && e.CreatedAt.Equal(d.CreatedAt) && len(e.Deliveries) == 1 && e.names(d.ID)
}

// isFirst reports whether a delivery and its event are found by one another's id.
func (d *Delivery) isFirst() bool {
	return strings.HasPrefix(d.EventID, PrefixEvent) && FirstDelivery(d.EventID) == d.ID
}

func (e *Event) names(deliveryID string) bool { return slices.Contains(e.Deliveries, deliveryID) }

// Event finds an event in a row of its own, or in its delivery's.
func (t Tx) Event(id string) (Event, error) {
	e, err := find(events, t, t.Text(id))
	if !IsNotFound(err) {
		return e, err
	}
	none := err
	value, err := t.deliveryValue(FirstDelivery(id))
	if err == nil {
		var d Delivery
		var body []byte
		d, body, err = ReadDelivery([]byte(FirstDelivery(id)), value)
		if err == nil && len(body) > 0 && d.EventID == id {
			return Event{ID: id, OrgID: d.OrgID, Type: d.EventType, CreatedAt: d.CreatedAt, Body: slices.Clone(body), Deliveries: []string{d.ID}}, nil
		}
	}
	return Event{}, cmp.Or(unlessNotFound(err), none)
}

// dropEvent deletes an event if none of its deliveries is left.
func (t Tx) dropEvent(id string) error {
	e, err := find(events, t, t.Text(id))
	if err != nil {
		return err
	}
	left := false
	err = t.Gets(&deliveries.Kind, keysOf(e.Deliveries), func(int, []byte) error {
		left = true
		return nil
	})
	if err != nil || left {
		return err
	}
	return events.Drop(t.Tx, t.Text(id))
}

// Event is something that happened in an org, as it is sent.
type Event struct {
	ID        string
	OrgID     string
	Type      string
	CreatedAt time.Time
	Body      []byte // the JSON that every attempt sends, byte for byte

	Deliveries []string // ids of its deliveries, also of those that were deleted. The event is deleted with the last of them
}

// FirstDelivery returns the id of an event's first delivery: the event's own, with
// the prefix of deliveries.
func FirstDelivery(eventID string) string {
	return PrefixDelivery + strings.TrimPrefix(eventID, PrefixEvent)
}

// newEvent makes an event. Its data is a JSON object.
func newEvent(tx Tx, orgID, eventType string, data []byte) Event {
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
	return emit(tx, orgID, eventType, data, func(*Endpoint) bool { return true })
}

// emit is Emit to the endpoints among them that may have the event.
func emit(tx Tx, orgID, eventType string, data []byte, may func(*Endpoint) bool) ([]Delivery, error) {
	features, err := Features(tx, orgID)
	if err != nil || !features.Has(FeatureWebhooks) {
		return nil, err
	}
	endpoints, err := tx.Endpoints(orgID)
	if err != nil {
		return nil, err
	}
	endpoints = slices.DeleteFunc(endpoints, func(e Endpoint) bool { return !e.Selects(eventType) || !may(&e) })
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

// EventOf finds the event that was emitted with an audit entry: its id was generated right
// after the entry's. notFound: no endpoint selected it, it is no longer kept, or the entry
// has no event.
func EventOf(tx Tx, entry AuditEntry) (Event, error) {
	e, err := tx.Event(idAfter(entry.ID, PrefixEvent))
	if err == nil && (e.OrgID != entry.OrgID || e.Type != entry.Action) {
		return Event{}, Errorf(CodeNotFound, "The entry has no such event.")
	}
	return e, err
}
