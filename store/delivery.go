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
	StateLeased                                // was pulled, and is the consumer's until its lease ends
)

var stateNames = [...]string{
	StatePending: "pending", StateRetrying: "retrying", StateAcknowledged: "acknowledged", StateFailed: "failed", StateHeld: "held",
	StateLeased: "leased",
}

func (s DeliveryState) String() string {
	if int(s) < len(stateNames) && stateNames[s] != "" {
		return stateNames[s]
	}
	return "unknown"
}

// Waiting reports whether the delivery waits for an attempt, or to be pulled.
func (s DeliveryState) Waiting() bool { return s == StatePending || s == StateRetrying }

// Finished reports whether the delivery has an outcome, and nothing more follows.
func (s DeliveryState) Finished() bool { return s == StateAcknowledged || s == StateFailed }

// Delivery is one event on its way to one endpoint. Its id is the webhook-id
// of every attempt.
type Delivery struct {
	ID             string
	EventID        string // in a record empty if it is `evt_` and what follows `whd_` in the delivery's id
	OrgID          string
	EndpointID     string
	EndpointNumber uint64
	State          DeliveryState // 1 pending, 2 retrying, 3 acknowledged, 4 failed, 6 leased
	Attempts       int           // made since it was queued or last replayed
	CreatedAt      time.Time     // when the event happened
	FirstAttemptAt time.Time     // of those attempts; zero: not attempted yet
	DueAt          time.Time     // of the next attempt; counts only while it is pending or retrying, and is its place in the list after a lease
	FinishedAt     time.Time     // when it was acknowledged or failed; zero: it is neither
	EventType      string
	History        []Attempt // the attempts, oldest first; the latest 30 of all that were made; see MaxHistory
	Leases         []Lease   // the one that it is in while it is leased; otherwise none
}

// StateAt returns the state as shown, which depends on the delivery's endpoint.
func (d *Delivery) StateAt(e *Endpoint) DeliveryState {
	if d.State.Waiting() && e.Disabled() {
		return StateHeld
	}
	return d.State
}

// readyAt is when a waiting delivery may be sent or handed out. Of one to be pulled that was
// never handed out DueAt is only its place in the order.
func (d *Delivery) readyAt(now time.Time) time.Time {
	if IsPull(d.EndpointNumber) && len(d.History) == 0 {
		return earliest(d.DueAt, now)
	}
	return d.DueAt
}

// LastAttempt is the latest attempt; nil before the first, and for no delivery.
func (d *Delivery) LastAttempt() *Attempt {
	if d == nil || len(d.History) == 0 {
		return nil
	}
	return &d.History[len(d.History)-1]
}

// FindDelivery finds a delivery of an org, and its endpoint. notFound: the org
// has no such delivery, or no longer has its endpoint.
func FindDelivery(tx Tx, orgID, id string) (Delivery, Endpoint, error) {
	d, err := tx.Delivery(id)
	var e Endpoint
	if err == nil && d.OrgID == orgID {
		e, err = tx.Endpoint(orgID, d.EndpointID)
	}
	if IsNotFound(err) || err == nil && (d.OrgID != orgID || e.Number != d.EndpointNumber) {
		return Delivery{}, Endpoint{}, Errorf(CodeNotFound, "The org has no such delivery.")
	}
	return d, e, err
}

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
		if endpoints[i].Pull() {
			deliveries[i].DueAt = placeInOrder(id, event.CreatedAt)
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
