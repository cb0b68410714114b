package settings

import (
	"fmt"
	"slices"
	"time"

	"teamdata/store"
)

// endpointPage is the data of endpoint.html.
type endpointPage struct {
	endpointRow
	Selected []eventChoice // what the endpoint receives
	Both     bool          // the old secret also signs
	NotSent  bool          // the plan does not include webhooks
	Refused  string        // why nothing is delivered to its URL; empty: nothing is known
	Twins    []string      // ids of other endpoints with its URL
	Held     string        // for how long deliveries are held while it is disabled
	DropAt   time.Time     // when the oldest held delivery is dropped; zero: there is none
}

// endpoint finds the endpoint of the path.
func (r *request) endpoint(tx store.Tx) (store.Endpoint, error) {
	return store.FindEndpoint(tx, r.org.ID, r.Param("endpoint"))
}

// endpointPath is the path of a page of the endpoint of the path.
func (r *request) endpointPath(parts ...string) string {
	return r.path(append([]string{"endpoints", r.Param("endpoint")}, parts...)...)
}

func (r *request) showEndpoint() error {
	var p endpointPage
	return r.show(200, "endpoint", &p, func(tx store.Tx) error {
		e, err := r.endpoint(tx)
		if err != nil {
			return err
		}
		rows, err := r.rows(tx, []store.Endpoint{e})
		if err != nil {
			return err
		}
		p.endpointRow, p.Both, p.Held = rows[0], len(e.Secrets(r.now)) > 1, r.heldFor()
		if p.DropAt, err = r.dropAt(tx, e); err != nil {
			return err
		}
		if p.NotSent, err = r.lacksWebhooks(tx); err != nil {
			return err
		}
		if warn := r.s.config.WarnOfURL; warn != nil {
			p.Refused = warn(e.URL)
		}
		if p.Twins, err = store.WithSameURL(tx, e); err != nil {
			return err
		}
		choices, err := selectionChoices(tx, e.Events)
		p.Selected = slices.DeleteFunc(choices, func(c eventChoice) bool { return !c.Chosen })
		return err
	})
}

// heldFor formats how long deliveries are held.
func (r *request) heldFor() string { return formatDays(r.s.config.HeldRetention) }

// dropAt returns when the oldest held delivery of a disabled endpoint is dropped;
// zero: none is held.
func (r *request) dropAt(tx store.Tx, e store.Endpoint) (at time.Time, err error) {
	if !e.Disabled() {
		return at, nil
	}
	oldest, _, err := tx.DeliveryPage(e.Number, store.ListWaiting, store.Cursor{}, 1)
	if len(oldest) > 0 {
		at = e.HeldSince(oldest[0].DueAt).Add(r.s.config.HeldRetention)
	}
	return at, err
}

// sendTest leads to the delivery, where one sees it arrive. A form that is sent twice
// sends one.
func (r *request) sendTest() error {
	id, _, err := r.changeOnce(func(tx store.Tx) (string, error) {
		d, err := store.SendTest(tx, r.org.ID, r.Param("endpoint"))
		return d.ID, err
	})
	if err != nil {
		return err
	}
	return r.done("test-sent", r.path("deliveries", id))
}

func (r *request) enableEndpoint() error {
	return r.actOnEndpoint(store.EnableEndpoint, "endpoint-enabled")
}
func (r *request) disableEndpoint() error {
	return r.actOnEndpoint(store.DisableEndpoint, "endpoint-disabled")
}

func (r *request) actOnEndpoint(act func(tx store.Tx, actorID, orgID, id string) error, done string) error {
	return r.do(done, r.endpointPath(), func(tx store.Tx) error { return act(tx, r.actor(), r.org.ID, r.Param("endpoint")) })
}

func (r *request) confirmDisable() error {
	return r.confirmForEndpoint(confirmPage{
		Title: "Disable this endpoint?", Button: "Disable", To: "disable",
		Text: []string{
			"Nothing is sent to it until somebody enables it again. Its events are held, not lost: those that are waiting, and all new ones.",
			"When it is enabled, they are sent in order. What has been held for longer than " + r.heldFor() + " is dropped.",
		},
	})
}

func (r *request) confirmDelete() error {
	return r.confirmForEndpoint(confirmPage{
		Title: "Delete this endpoint?", Button: "Delete endpoint", To: "delete", Danger: true,
		Text: []string{
			"Nothing is sent to it any more. Its secret and all its deliveries with their attempts are deleted, including those that are waiting.",
			"This can't be undone. To pause it, disable it instead.",
		},
	})
}

// confirmForEndpoint asks for confirmation about the endpoint of the path.
func (r *request) confirmForEndpoint(q confirmPage) error {
	q.To, q.Back = r.endpointPath(q.To), r.endpointPath()
	return r.show(200, "confirm", &q, func(tx store.Tx) error {
		e, err := r.endpoint(tx)
		q.About = e.URL
		return err
	})
}

// deleteEndpoint leads to the list, also when the form is sent a second time.
func (r *request) deleteEndpoint() error {
	_, _, err := r.changeOnce(func(tx store.Tx) (string, error) {
		return "", store.RemoveEndpoint(tx, r.actor(), r.org.ID, r.Param("endpoint"))
	})
	if err != nil {
		return err
	}
	return r.done("endpoint-deleted", r.path("endpoints"))
}

// maxWaiting is how far waiting deliveries are counted.
const maxWaiting = 1000

// health is how the deliveries to an endpoint went lately.
type health struct {
	store.DeliveryCounts // of the last 24 hours
	LastAcknowledged     time.Time
	Waiting              store.Waiting // up to maxWaiting
}

// Unsuccessful are the attempts that were not acknowledged.
func (h health) Unsuccessful() int { return h.Retrying + h.Failed }

// WaitingText formats the number of waiting deliveries.
func (h health) WaitingText() string { return formatCount(h.Waiting.Total(), h.Waiting.Capped) }

// endpointRow is an endpoint in a list.
type endpointRow struct {
	store.Endpoint
	Health health
}

// EventsText formats what the endpoint receives, in a few words.
func (e endpointRow) EventsText() string {
	switch others := len(e.Events) - 1; {
	case slices.Contains(e.Events, store.AllEvents):
		return "all events"
	case others > 0:
		return fmt.Sprintf("%s and %d more", e.Events[0], others)
	}
	return e.Events[0]
}

type endpointsPage struct {
	Endpoints []endpointRow
	Full      bool // no more endpoints can be added
	NotSent   bool // the plan does not include webhooks
}

func (r *request) listEndpoints() error {
	var p endpointsPage
	return r.show(200, "endpoints", &p, func(tx store.Tx) error {
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
}

// lacksWebhooks reports whether the org's subscription does not include webhooks.
func (r *request) lacksWebhooks(tx store.Tx) (bool, error) {
	features, err := store.Features(tx, r.org.ID)
	return !features.Has(store.FeatureWebhooks), err
}

func (r *request) rows(tx store.Tx, endpoints []store.Endpoint) ([]endpointRow, error) {
	counts := map[uint64]*store.DeliveryCounts{}
	for _, e := range endpoints {
		counts[e.Number] = &store.DeliveryCounts{}
	}
	from := r.now.Add(-23 * time.Hour) // the current hour and 23 before it
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
			h.Waiting, err = tx.CountWaiting(e, maxWaiting)
		}
		rows[i] = endpointRow{e, h}
	}
	return rows, err
}
