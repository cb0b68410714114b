package settings

import (
	"strconv"
	"time"

	"teamdata/store"
)

// maxWaiting is how far waiting deliveries are counted.
const maxWaiting = 1000

// health is how it went at an endpoint lately.
type health struct {
	store.DeliveryCounts // of the last 24 hours
	LastAcknowledged     time.Time
	Waiting              int // at most maxWaiting, and one more when there are more
}

// Unsuccessful are the attempts that were not acknowledged.
func (h health) Unsuccessful() int { return h.Retrying + h.Failed }

// WaitingText is how many wait, for people.
func (h health) WaitingText() string {
	switch {
	case h.Waiting > maxWaiting:
		return "1,000+"
	case h.Waiting == maxWaiting:
		return "1,000"
	}
	return strconv.Itoa(h.Waiting)
}

// endpointRow is an endpoint in the list.
type endpointRow struct {
	store.Endpoint
	Health health
}

type endpointsPage struct {
	Endpoints []endpointRow
	Full      bool // there is no room for another
	NotSent   bool // the plan includes no webhooks
}

func (r *request) listEndpoints() error {
	var p endpointsPage
	err := r.view(func(tx store.Tx) error {
		endpoints, err := tx.Endpoints(r.org.ID)
		if err != nil {
			return err
		}
		if p.NotSent, err = r.lacksWebhooks(tx); err != nil {
			return err
		}
		p.Full = len(endpoints) >= store.MaxEndpoints
		p.Endpoints, err = r.rows(tx, endpoints)
		return err
	})
	if err != nil {
		return err
	}
	return r.render(200, "endpoints", &p)
}

// lacksWebhooks tells whether the org's events go nowhere, because of its plan.
func (r *request) lacksWebhooks(tx store.Tx) (bool, error) {
	features, err := store.Features(tx, r.org.ID)
	return !features.Has(store.FeatureWebhooks), err
}

func (r *request) rows(tx store.Tx, endpoints []store.Endpoint) ([]endpointRow, error) {
	counts := map[uint64]*store.DeliveryCounts{}
	for _, e := range endpoints {
		counts[e.Number] = &store.DeliveryCounts{}
	}
	from := r.now.Add(-23 * time.Hour) // the hour that runs, and 23 before it
	err := tx.EachDeliveryCounts(r.org.ID, from, func(endpoint uint64, _ time.Time, c store.DeliveryCounts) {
		if sum := counts[endpoint]; sum != nil {
			sum.Add(c)
		}
	})
	rows := make([]endpointRow, len(endpoints))
	for i, e := range endpoints {
		h := health{DeliveryCounts: *counts[e.Number]}
		if err == nil {
			h.LastAcknowledged, err = tx.LastAcknowledged(e.Number)
		}
		if err == nil {
			h.Waiting, err = tx.CountDeliveries(e.Number, store.ListWaiting, maxWaiting+1)
		}
		rows[i] = endpointRow{e, h}
	}
	return rows, err
}
