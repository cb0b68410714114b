package store

import "time"

// DeliveryState is where a delivery stands.
type DeliveryState uint8

// The states that are stored. "held" is derived: a pending or retrying
// delivery whose endpoint is disabled is held.
const (
	StatePending      DeliveryState = iota + 1 // not attempted yet
	StateRetrying                              // attempted in vain, with another attempt to come
	StateAcknowledged                          // a receiver answered 2xx in time
	StateFailed                                // the last attempt was in vain
)

var stateNames = [...]string{StatePending: "pending", StateRetrying: "retrying", StateAcknowledged: "acknowledged", StateFailed: "failed"}

func (s DeliveryState) String() string {
	if int(s) < len(stateNames) && stateNames[s] != "" {
		return stateNames[s]
	}
	return "unknown"
}

// Waiting tells whether an attempt is still to come.
func (s DeliveryState) Waiting() bool { return s == StatePending || s == StateRetrying }

// Delivery is one event on its way to one endpoint. Its id is the webhook-id
// of every attempt.
type Delivery struct {
	ID             string
	EventID        string
	OrgID          string
	EndpointID     string
	EndpointNumber uint64
	State          DeliveryState
	Attempts       int       // made so far
	CreatedAt      time.Time // when the event happened
	FirstAttemptAt time.Time // zero before the first
	DueAt          time.Time // of the next attempt; meaningful while State.Waiting()
}

// Attempt is the outcome of one try to send a delivery.
type Attempt struct {
	StartedAt time.Time // when dialing began
	EndedAt   time.Time
	Status    int    // the receiver's HTTP status; 0 when there was none
	TimedOut  bool   // the deadline ended it
	Reason    string // why it was in vain; empty when Acknowledged
}

// Acknowledged tells whether the receiver took it: any 2xx.
func (a *Attempt) Acknowledged() bool { return a.Reason == "" && a.Status >= 200 && a.Status <= 299 }

// DefaultRetrySchedule is how long after each failed attempt the next is due:
// 1, 5, 25, 125, then 625 minutes, so six attempts in all.
var DefaultRetrySchedule = []time.Duration{
	time.Minute, 5 * time.Minute, 25 * time.Minute, 125 * time.Minute, 625 * time.Minute,
}

func deliver(tx Tx, event *Event, endpoint *Endpoint) (Delivery, error) {
	d := Delivery{
		ID: tx.NewID(PrefixDelivery), EventID: event.ID, OrgID: event.OrgID,
		EndpointID: endpoint.ID, EndpointNumber: endpoint.Number,
		State: StatePending, CreatedAt: event.CreatedAt, DueAt: event.CreatedAt,
	}
	return d, tx.AddDelivery(d)
}

// SendTest records a webhook.test event and its delivery to the named
// endpoint, whatever events that has selected. notFound: the org has no such
// endpoint; conflict: it is disabled.
func SendTest(tx Tx, orgID, endpointID string) (Delivery, error) {
	endpoint, err := tx.Endpoint(orgID, endpointID)
	if IsNotFound(err) {
		return Delivery{}, Errorf(CodeNotFound, "The org has no such webhook endpoint.")
	}
	if err != nil {
		return Delivery{}, err
	}
	if endpoint.Disabled() {
		return Delivery{}, Errorf(CodeConflict, "The webhook endpoint is disabled. Enable it in the org's settings first.")
	}
	event := newEvent(tx, orgID, EventWebhookTest, object("orgId", orgID, "endpointId", endpointID))
	if err := tx.AddEvent(event); err != nil {
		return Delivery{}, err
	}
	return deliver(tx, &event, &endpoint)
}

// RecordAttempt writes the outcome of an attempt: acknowledged, or due again
// after the schedule's next step, counted from the attempt's end, or failed
// when the schedule is used up.
func RecordAttempt(tx Tx, deliveryID string, a Attempt, schedule []time.Duration) error {
	d, err := tx.Delivery(deliveryID)
	if err != nil {
		return err
	}
	if d.FirstAttemptAt.IsZero() {
		d.FirstAttemptAt = a.StartedAt
	}
	d.Attempts++
	switch {
	case a.Acknowledged():
		d.State = StateAcknowledged
	case d.Attempts <= len(schedule):
		d.State = StateRetrying
		d.DueAt = roundUp(a.EndedAt.Add(schedule[d.Attempts-1]))
	default:
		d.State = StateFailed
	}
	return tx.PutDelivery(d)
}

// roundUp to the resolution of stored times, so that nothing is due early.
func roundUp(t time.Time) time.Time {
	return t.Add(time.Millisecond - 1).Truncate(time.Millisecond)
}
