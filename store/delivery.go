package store

import "time"

// DeliveryState is the state of a delivery.
type DeliveryState uint8

// The states. StateHeld is not stored: a pending or retrying delivery is held
// while its endpoint is disabled, see [Delivery.StateAt].
const (
	StatePending      DeliveryState = iota + 1 // not attempted yet
	StateRetrying                              // an attempt failed, another will follow
	StateAcknowledged                          // a receiver answered 2xx in time
	StateFailed                                // the last attempt failed
	StateHeld                                  // waits until its endpoint is enabled
)

var stateNames = [...]string{
	StatePending: "pending", StateRetrying: "retrying", StateAcknowledged: "acknowledged", StateFailed: "failed", StateHeld: "held",
}

func (s DeliveryState) String() string {
	if int(s) < len(stateNames) && stateNames[s] != "" {
		return stateNames[s]
	}
	return "unknown"
}

// Waiting reports whether another attempt will follow.
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
	Attempts       int       // since it was queued or last replayed
	CreatedAt      time.Time // when the event happened
	FirstAttemptAt time.Time // of those Attempts; zero before the first
	DueAt          time.Time // of the next attempt; meaningful while State.Waiting()
	FinishedAt     time.Time // when it was acknowledged or failed; zero while State.Waiting()
	EventType      string
	History        []Attempt // the latest MaxHistory of all attempts, oldest first
}

// Deliveries store events and their deliveries. Each delivery is in one of its
// endpoint's lists, at its [Delivery.Position]; the waiting list is the due
// queue.
type Deliveries interface {
	// AddEvent adds an event and its deliveries, whose ids the event lists.
	AddEvent(Event, []Delivery) error
	Event(id string) (Event, error)
	Delivery(id string) (Delivery, error)
	// PutDelivery changes what attempts and replays change of a delivery.
	PutDelivery(Delivery) error
	// DeleteDelivery deletes a delivery, and with an event's last delivery the
	// event.
	DeleteDelivery(id string) error
	// ReadToDelete reads ahead what deleting some deliveries reads, of all of them at once.
	ReadToDelete(ids []string) error
	// DeliveryPage reads up to limit deliveries of an endpoint's list after a
	// position, in the list's order, and reports whether more follow. The zero
	// Cursor starts at the first.
	DeliveryPage(endpoint uint64, list DeliveryList, after Cursor, limit int) (page []Delivery, more bool, err error)
	// LatestDeliveries reads up to limit deliveries of some endpoints that are in some
	// lists, newest first by [Delivery.Latest], before a position. The zero Cursor starts
	// at the newest. Lists are of DeliveryLists, or ListAttempted in place of ListWaiting.
	LatestDeliveries(endpoints []uint64, lists []DeliveryList, before Cursor, limit int) ([]Delivery, error)
	// CountWaiting counts the deliveries waiting for an endpoint, up to most.
	CountWaiting(e Endpoint, most int) (Waiting, error)
	// FinishedBefore returns the ids of up to limit deliveries, of any
	// endpoint, that were acknowledged or failed before a time.
	FinishedBefore(t time.Time, limit int) ([]string, error)
	// HeldBefore returns the ids of up to limit deliveries that disabled endpoints
	// have held since before a time, see [Endpoint.HeldSince].
	HeldBefore(t time.Time, limit int) ([]string, error)
	// LastAcknowledged returns when the endpoint last acknowledged; zero: never.
	LastAcknowledged(endpoint uint64) (time.Time, error)
	PutLastAcknowledged(endpoint uint64, at time.Time) error
}

// StateAt returns the state as shown, which depends on the delivery's endpoint.
func (d *Delivery) StateAt(e *Endpoint) DeliveryState {
	if d.State.Waiting() && e.Disabled() {
		return StateHeld
	}
	return d.State
}

// FindDelivery finds a delivery of an org, and its endpoint. notFound: the org
// has no such delivery, or no longer has its endpoint.
func FindDelivery(tx Tx, orgID, id string) (Delivery, Endpoint, error) {
	d, err := tx.Delivery(id)
	if IsNotFound(err) || err == nil && d.OrgID != orgID {
		return Delivery{}, Endpoint{}, errNoDelivery()
	}
	if err != nil {
		return Delivery{}, Endpoint{}, err
	}
	e, err := tx.Endpoint(orgID, d.EndpointID)
	if IsNotFound(err) || err == nil && e.Number != d.EndpointNumber {
		return Delivery{}, Endpoint{}, errNoDelivery()
	}
	return d, e, err
}

func errNoDelivery() error { return Errorf(CodeNotFound, "The org has no such delivery.") }

// queue creates one delivery of the event per endpoint.
func queue(tx Tx, event Event, endpoints []Endpoint) ([]Delivery, error) {
	deliveries := make([]Delivery, len(endpoints))
	event.Deliveries = make([]string, len(endpoints))
	for i := range endpoints {
		id := FirstDelivery(event.ID)
		if i > 0 {
			id = tx.NewID(PrefixDelivery)
		}
		deliveries[i] = Delivery{
			ID: id, EventID: event.ID, EventType: event.Type, OrgID: event.OrgID,
			EndpointID: endpoints[i].ID, EndpointNumber: endpoints[i].Number,
			State: StatePending, CreatedAt: event.CreatedAt, DueAt: event.CreatedAt,
		}
		event.Deliveries[i] = id
	}
	return deliveries, tx.AddEvent(event, deliveries)
}

// SendTest records a webhook.test event and its delivery to the named endpoint,
// regardless of the events that it selects. notFound: the org has no such
// endpoint; conflict: it is disabled.
func SendTest(tx Tx, orgID, endpointID string) (Delivery, error) {
	return sendTo(tx, orgID, endpointID, func() Event {
		return newEvent(tx, orgID, EventWebhookTest, jsonObject("orgId", orgID, "endpointId", endpointID))
	})
}

// SendExample is SendTest with an event of another type, whose data is an example. The
// event says "test":true beside its type, so that receivers can tell it from one that
// happened. The data is a JSON object.
func SendExample(tx Tx, orgID, endpointID, eventType string, data []byte) (Delivery, error) {
	return sendTo(tx, orgID, endpointID, func() Event {
		event := newEvent(tx, orgID, eventType, data)
		event.Body = append(event.Body[:len(event.Body)-1], `,"test":true}`...)
		return event
	})
}

// sendTo queues an event for one endpoint.
func sendTo(tx Tx, orgID, endpointID string, event func() Event) (Delivery, error) {
	endpoint, err := FindEndpoint(tx, orgID, endpointID)
	if err != nil {
		return Delivery{}, err
	}
	if endpoint.Disabled() {
		return Delivery{}, Errorf(CodeConflict, "The webhook endpoint is disabled.").Advise("Enable it in the org's settings first.")
	}
	sent, err := queue(tx, event(), []Endpoint{endpoint})
	if err != nil {
		return Delivery{}, err
	}
	return sent[0], nil
}
