package store

import (
	"slices"
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

// EventTypes are all of them, in the contract's order.
var EventTypes = []string{
	EventMemberAdded, EventMemberRemoved, EventSubscriptionChanged,
	EventFileUploaded, EventInstructionsChanged, EventWebhookTest,
}

// IsEventType tells whether there is an event type of that name.
func IsEventType(name string) bool { return slices.Contains(EventTypes, name) }

// Event is something that happened in an org, as it is sent.
type Event struct {
	ID        string
	OrgID     string
	Type      string
	CreatedAt time.Time
	Body      []byte // the JSON that receivers get, the same bytes on every attempt
}

// The data of each event type.
type (
	memberData struct {
		OrgID    string `json:"orgId"`
		MemberID string `json:"memberId"`
		UserID   string `json:"userId"`
		Role     string `json:"role"`
	}
	subscriptionData struct {
		OrgID          string `json:"orgId"`
		SubscriptionID string `json:"subscriptionId"`
		Product        string `json:"product"`
		Plan           string `json:"plan"`
		Interval       string `json:"interval"`
		Status         string `json:"status"`
	}
	fileData struct {
		OrgID       string `json:"orgId"`
		FileID      string `json:"fileId"`
		Name        string `json:"name"`
		ContentType string `json:"contentType"`
		Size        int64  `json:"size"`
	}
	instructionsData struct {
		OrgID string `json:"orgId"`
	}
	testData struct {
		OrgID      string `json:"orgId"`
		EndpointID string `json:"endpointId"`
	}
)

func newEvent(tx Clock, orgID, eventType string, data any) Event {
	now := tx.Now()
	body := append([]byte(nil), '{')
	body = appendString(body, "type", eventType)
	body = appendTime(body, "timestamp", now)
	body = appendField(body, "data")
	body = append(body, marshal(data)...)
	return Event{
		ID: tx.NewID(PrefixEvent), OrgID: orgID, Type: eventType, CreatedAt: now,
		Body: append(body, '}'),
	}
}

// Emit records an event and one delivery of it for each endpoint of the org
// that selects its type, in the same transaction as the change that caused it.
// Deliveries to a disabled endpoint wait there until it is enabled. Without
// the feature webhooks an org's events make no deliveries.
func Emit(tx Tx, orgID, eventType string, data any) error {
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
	event := newEvent(tx, orgID, eventType, data)
	if err := tx.AddEvent(event); err != nil {
		return err
	}
	for i := range endpoints {
		if _, err := deliver(tx, &event, &endpoints[i]); err != nil {
			return err
		}
	}
	return nil
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
	entry := AuditEntry{OrgID: f.OrgID, ActorID: actorID, Action: EventFileUploaded, TargetID: f.ID}
	if _, err := AppendAudit(tx, entry); err != nil {
		return File{}, err
	}
	return f, Emit(tx, f.OrgID, EventFileUploaded, fileData{
		OrgID: f.OrgID, FileID: f.ID, Name: f.Name, ContentType: f.ContentType, Size: f.Size,
	})
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
