package storetest

import (
	"errors"

	"teamdata/store"
)

// What rules about pulling work on: an endpoint of acme, and a delivery that is leased.
const (
	pullID   = "whe_pull"
	leasedID = "whd_leased"
)

// puller is a key that may pull from all endpoints of acme.
var puller = &store.APIKey{ID: "key_pull", OrgID: acme, Scopes: store.ScopeReceive, CreatedBy: ada}

// fillPulls writes an endpoint that is pulled, its key, and two deliveries, of which the
// first is leased.
func fillPulls(tx store.Tx) error {
	e, err := store.ImportEndpoint(tx, store.Endpoint{ID: pullID, OrgID: acme, Events: []string{store.EventMemberRemoved}, Secret: secretOf(9, 24)})
	if err != nil {
		return err
	}
	event := store.Event{ID: "evt_leased", OrgID: acme, Type: "t", CreatedAt: tx.Now(), Body: []byte(`{"a":1}`), Deliveries: []string{leasedID}}
	err = tx.AddEvent(event, []store.Delivery{{
		ID: leasedID, EventID: event.ID, OrgID: acme, EndpointID: e.ID, EndpointNumber: e.Number,
		State: store.StatePending, CreatedAt: tx.Now(), DueAt: tx.Now(),
	}})
	return errors.Join(err, second(store.ImportKey(tx, *puller)), pull(acme, pullID)(tx), sendTest(acme, pullID)(tx))
}

// warned notes that a mail was queued about the endpoint that Fill made.
func warned(tx store.Tx) error {
	e, err := tx.Endpoint(acme, pullID)
	if err != nil {
		return err
	}
	p, err := tx.LastPulled(e.Number)
	p.WarnedAt = someTime
	return errors.Join(err, tx.PutLastPulled(p))
}

// pull pulls up to two deliveries with a key of an org, and acknowledges others.
func pull(org, endpoint string, acked ...string) rule {
	return func(tx store.Tx) error {
		key := *puller
		key.OrgID = org
		return second(store.Pull(tx, endpoint, store.PullRequest{Key: &key, Ack: acked, Limit: 2, Lease: store.DefaultLease}))
	}
}

// ofLease is a rule about the lease that Fill made.
func ofLease(do func(tx store.Tx, of []store.LeaseOf) error) rule {
	return func(tx store.Tx) error {
		d, err := tx.Delivery(leasedID)
		if err != nil {
			return err
		}
		return do(tx, []store.LeaseOf{{DeliveryID: d.ID, Lease: d.Lease().ID}})
	}
}
