package store

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"teamdata/store/rows"
)

// The built-in event types.
const (
	EventMemberAdded         = "member.added"
	EventMemberChanged       = "member.changed"
	EventMemberRemoved       = "member.removed"
	EventSubscriptionChanged = "subscription.changed"
	EventFileUploaded        = "file.uploaded"
	EventInstructionsChanged = "assistant.instructionsChanged"
	EventWebhookTest         = "webhook.test"

	// The signals, see IsSignal.
	EventEndpointDisabled    = "teamdata.endpoint.disabled"
	EventEndpointRecovered   = "teamdata.endpoint.recovered"
	EventDeliveryFailed      = "teamdata.delivery.failed"
	EventAPIKeyExpiring      = "teamdata.apiKey.expiring"
	EventAPIKeyEnded         = "teamdata.apiKey.ended"
	EventBackupFailed        = "teamdata.backup.failed"
	EventCertificateExpiring = "teamdata.certificate.expiring"
)

// BuiltInEventTypes are all of them, each beside those of its noun, and the signals last.
var BuiltInEventTypes = slices.Concat([]string{
	EventMemberAdded, EventMemberChanged, EventMemberRemoved, EventSubscriptionChanged,
	EventFileUploaded, EventInstructionsChanged, EventWebhookTest,
}, Signals)

// IsBuiltInEventType reports whether an event type of that name is built in.
func IsBuiltInEventType(name string) bool { return slices.Contains(BuiltInEventTypes, name) }

// WasOwnEventType reports whether a built-in type was added so late that older data
// may have an operator's own of that name. The built-in one counts.
func WasOwnEventType(name string) bool { return name == EventMemberChanged || IsSignal(name) }

// EventType is an operator-defined type of events, in addition to the built-in ones.
type EventType struct {
	Name        string // 1 to 128 of A-Z a-z 0-9 _, in parts with one period between; see ValidEventType
	Description string // for people, at most 500 characters
	Schema      []byte // a JSON Schema that an event's data keeps to, at most 64 KiB; empty: any object
	CreatedAt   time.Time
}

var eventTypes = rows.Define(&rows.Table[EventType]{
	Kind: rows.Kind{Name: "eventTypes", Noun: "event type"},
	Key:  func(dst []byte, e *EventType) []byte { return append(dst, e.Name...) },
	Fields: func(c *rows.Codec, e *EventType) {
		c.Text(&e.Name)
		c.Text(&e.Description)
		c.Bytes(&e.Schema)
		c.Time(&e.CreatedAt)
	},
})

func (t Tx) EventType(name string) (EventType, error) { return find(eventTypes, t, t.Text(name)) }

// EventTypes lists the types in order of name.
func (t Tx) EventTypes() ([]EventType, error) {
	return list(eventTypes, t, rows.ByKey, rows.Bounds{}, unlimited)
}

func (t Tx) PutEventType(e EventType) error {
	t.Changed().Retyped = true
	return eventTypes.Put(t.Tx, &e)
}

func (t Tx) DeleteEventType(name string) error {
	t.Changed().Retyped = true
	return eventTypes.Drop(t.Tx, t.Text(name))
}

const (
	maxEventType   = 128
	maxEventSchema = 64 << 10
)

// ValidEventType reports whether a name has the form of an event type: parts of
// A-Z a-z 0-9 and _ separated by single periods.
func ValidEventType(name string) bool {
	if len(name) > maxEventType {
		return false
	}
	for part := range strings.SplitSeq(name, ".") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool { return r == '-' || notInID(r) }) {
			return false
		}
	}
	return true
}

func (e EventType) check() error {
	switch {
	case !ValidEventType(e.Name):
		return Invalid("name", "must be 1 to %d characters of A-Z a-z 0-9 _, in parts separated by periods, such as invoice.paid", maxEventType)
	case IsBuiltInEventType(e.Name):
		return Invalid("name", "%q is built in", e.Name).Advise("choose another name")
	case len(e.Schema) > maxEventSchema:
		return Invalid("schema", "has %d bytes", len(e.Schema)).Advise("at most %d are allowed", maxEventSchema)
	case e.Schema != nil && !json.Valid(e.Schema):
		return Invalid("schema", "is not JSON")
	}
	return checkOptional("description", e.Description, maxDescriptions)
}

// RegisterEventType adds an event type, or changes its description and schema. A
// missing creation time is filled in, or kept from the existing type. created
// reports whether the type is new. badRequest: a field is not valid, such as a new name
// that begins like those of signals.
func RegisterEventType(tx Tx, e EventType) (_ EventType, created bool, err error) {
	if strings.HasPrefix(e.Name, signalPrefix) {
		_, err := tx.EventType(e.Name) // one that is there already is older than the signals
		if IsNotFound(err) {
			err = Invalid("name", "begins with %s, as the types of signals do", signalPrefix).Advise("choose another name")
		}
		if err != nil {
			return EventType{}, false, err
		}
	}
	return ImportEventType(tx, e)
}

// ImportEventType is RegisterEventType for a file, which may have types that are older than
// the signals and begin like them.
func ImportEventType(tx Tx, e EventType) (_ EventType, created bool, err error) {
	if err := cmp.Or(e.check(), checkHappened(tx, "createdAt", e.CreatedAt)); err != nil {
		return EventType{}, false, err
	}
	old, err := tx.EventType(e.Name)
	if created = IsNotFound(err); err != nil && !created {
		return EventType{}, false, err
	}
	if e.CreatedAt.IsZero() {
		if e.CreatedAt = old.CreatedAt; created {
			e.CreatedAt = tx.Now()
		}
	}
	return e, created, tx.PutEventType(e)
}

// RemoveEventType removes an event type that no endpoint needs: one that selects it by
// name, or a group of which it is the last type. notFound: it doesn't exist; conflict: an
// endpoint needs it.
func RemoveEventType(tx Tx, name string) error {
	if _, err := tx.EventType(name); err != nil {
		return err
	}
	own, err := eventTypeNames(tx)
	if err != nil {
		return err
	}
	others := append(slices.DeleteFunc(own, func(other string) bool { return other == name }), BuiltInEventTypes...)
	err = eachOrg(tx, func(o Org) error {
		endpoints, err := tx.Endpoints(o.ID)
		for _, e := range endpoints {
			switch selection := e.needs(name, others); selection {
			case "":
			case name:
				return Errorf(CodeConflict, "The endpoint %s of the org %s selects this event type.", e.ID, o.ID).Advise("Change the endpoint first.")
			default:
				return Errorf(CodeConflict, "The endpoint %s of the org %s selects %s, of which this is the last event type.", e.ID, o.ID, selection).Advise("Change the endpoint first.")
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return tx.DeleteEventType(name)
}

// OwnEventTypes lists the types that the operator registered, in order of name, without
// those that are built in by now.
func OwnEventTypes(tx Tx) ([]EventType, error) {
	types, err := tx.EventTypes()
	return slices.DeleteFunc(types, func(e EventType) bool { return IsBuiltInEventType(e.Name) }), err
}

// eventTypeNames lists the names of the types that the operator registered.
func eventTypeNames(tx Tx) (names []string, err error) {
	types, err := tx.EventTypes()
	for _, t := range types {
		names = append(names, t.Name)
	}
	return names, err
}

// NoEventType returns the badRequest for a name that no event type has.
func NoEventType(field, name string) error {
	return adviseEventTypes(Invalid(field, "%.64q is not an event type", name))
}

func adviseEventTypes(e *Error) *Error {
	return e.Advise("the event types are %s, and those that were registered", strings.Join(BuiltInEventTypes, ", "))
}
