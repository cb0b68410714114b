package store

import (
	"slices"
	"strconv"
	"time"
)

// The event types of the contract.
const (
	EventMemberAdded         = "member.added"
	EventMemberRemoved       = "member.removed"
	EventSubscriptionChanged = "subscription.changed"
	EventFileUploaded        = "file.uploaded"
	EventInstructionsChanged = "assistant.instructionsChanged"
	EventWebhookTest         = "webhook.test"
)

// BuiltInEventTypes are all of them, in the contract's order.
var BuiltInEventTypes = []string{
	EventMemberAdded, EventMemberRemoved, EventSubscriptionChanged,
	EventFileUploaded, EventInstructionsChanged, EventWebhookTest,
}

// IsEventType tells whether there is an event type of that name.
func IsEventType(name string) bool { return slices.Contains(BuiltInEventTypes, name) }

// Event is something that happened in an org, as it is sent.
type Event struct {
	ID        string
	OrgID     string
	Type      string
	CreatedAt time.Time
	Body      []byte // the JSON that receivers get, the same bytes on every attempt

	Deliveries []string // the ids of its deliveries, finished and dropped ones too
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

// object makes a JSON object of names and values in turn.
func object(pairs ...string) []byte {
	dst := append(make([]byte, 0, 128), '{')
	for i := 0; i+1 < len(pairs); i += 2 {
		dst = appendString(dst, pairs[i], pairs[i+1])
	}
	return append(dst, '}')
}

// withNumber adds a number to an object.
func withNumber(object []byte, name string, n int64) []byte {
	dst := appendField(object[:len(object)-1], name)
	return append(strconv.AppendInt(dst, n, 10), '}')
}

// Emit records an event and one delivery of it for each endpoint of the org
// that selects its type, in the same transaction as the change that caused it.
// Deliveries to a disabled endpoint wait there until it is enabled. Without
// the feature webhooks an org's events make no deliveries. The data is a JSON
// object.
func Emit(tx Tx, orgID, eventType string, data []byte) error {
	features, err := Features(tx, orgID)
	if err != nil || !features.Has(FeatureWebhooks) {
		return err
	}
	endpoints, err := tx.Endpoints(orgID)
	if err != nil {
		return err
	}
	endpoints = slices.DeleteFunc(endpoints, func(e Endpoint) bool { return !e.Selects(eventType) })
	if len(endpoints) == 0 {
		return nil
	}
	_, err = queue(tx, newEvent(tx, orgID, eventType, data), endpoints)
	return err
}

// UploadFile records that a file was uploaded: its audit entry and its event
// file.uploaded. The bytes themselves live elsewhere. A missing id is given.
func UploadFile(tx Tx, actorID string, f File) (File, error) {
	if f.ID == "" {
		f.ID = tx.NewID(PrefixFile)
	}
	if err := f.check(); err != nil {
		return File{}, err
	}
	if err := auditBy(tx, actorID, f.OrgID, EventFileUploaded, f.ID); err != nil {
		return File{}, err
	}
	data := object("orgId", f.OrgID, "fileId", f.ID, "name", f.Name, "contentType", f.ContentType)
	return f, Emit(tx, f.OrgID, EventFileUploaded, withNumber(data, "size", f.Size))
}

// File is a file that the team's own software took in.
type File struct {
	OrgID       string
	ID          string
	Name        string // 1 to 200 characters
	ContentType string // 1 to 200 characters
	Size        int64  // bytes
}

func (f File) check() error {
	if !ValidID(f.ID) {
		return Invalid("id", "%s", idRule)
	}
	if err := checkText("name", f.Name, maxNameLength); err != nil {
		return err
	}
	if err := checkText("contentType", f.ContentType, maxNameLength); err != nil {
		return err
	}
	if f.Size < 0 {
		return Invalid("size", "is a number of bytes, 0 or more")
	}
	return nil
}
