package settings

import (
	"fmt"
	"strings"
	"time"

	"teamdata/store"
)

const (
	largeDeliveries = 1_000_000 // that are finished, half of them at whe_00
	largeWaiting    = 1_100     // at each endpoint
)

// benchDelivery is the id of a delivery of a large world.
func benchDelivery(i int) string { return fmt.Sprintf("whd_%026d", i) }

// largeWebhookPages are more pages for BenchmarkPages.
var largeWebhookPages = []largePage{
	{"endpoints", "/orgs/org_acme/endpoints"},
	{"new-endpoint", "/orgs/org_acme/new-endpoint"},
	{"endpoint", "/orgs/org_acme/endpoints/whe_00"},
	{"endpoint/edit", "/orgs/org_acme/endpoints/whe_00/edit"},
	{"endpoint/secret", "/orgs/org_acme/endpoints/whe_00/secret"},
	{"endpoint/recover", "/orgs/org_acme/endpoints/whe_00/recover"},
	{"endpoint/verify", "/orgs/org_acme/endpoints/whe_00/verify"},
	{"deliveries", "/orgs/org_acme/endpoints/whe_00/deliveries"},
	{"deliveries/acknowledged", "/orgs/org_acme/endpoints/whe_00/deliveries?state=acknowledged"},
	{"deliveries/deep", "/orgs/org_acme/endpoints/whe_00/deliveries?state=acknowledged&after=" + fmt.Sprint(noon.Add(-10*24*time.Hour).UnixMilli()) + ".acknowledged.whd_x"},
	{"deliveries/found", "/orgs/org_acme/endpoints/whe_00/deliveries?state=failed&type=file.uploaded"},
	{"deliveries/in-vain", "/orgs/org_acme/endpoints/whe_00/deliveries?type=none"},
	{"delivery", "/orgs/org_acme/deliveries/" + benchDelivery(500)},
	{"delivery/live", "/orgs/org_acme/deliveries/" + benchDelivery(500) + "/live"},
}

// fillDeliveries gives the endpoints as many deliveries as a busy month makes. One
// in ten failed, after three attempts.
func (w *world) fillDeliveries() {
	endpoints := w.endpoints()
	answer := []byte(strings.Repeat("no ", 100))
	w.updates(largeDeliveries, func(tx store.Tx, i int) error {
		at := noon.Add(-30 * 24 * time.Hour).Add(time.Duration(i) * 2 * time.Second)
		d := benchOf(i, endpoints[i%2*(i/2%len(endpoints))], at)
		d.State, d.FinishedAt, d.Attempts = store.StateAcknowledged, at, 1
		d.History = []store.Attempt{{StartedAt: at, EndedAt: at.Add(time.Second), Status: 200}}
		if i%20 < 2 {
			failed := store.Attempt{StartedAt: at, EndedAt: at, Status: 503, Reason: "the receiver answered 503", Answer: answer}
			d.State, d.Attempts, d.History = store.StateFailed, 3, []store.Attempt{failed, failed, failed}
		}
		return addBench(tx, d)
	})
	w.updates(largeWaiting*len(endpoints), func(tx store.Tx, i int) error {
		d := benchOf(largeDeliveries+i, endpoints[i%len(endpoints)], noon)
		d.State, d.DueAt = store.StatePending, noon.Add(time.Duration(i)*time.Second)
		return addBench(tx, d)
	})
}

func benchOf(i int, e store.Endpoint, at time.Time) store.Delivery {
	return store.Delivery{
		ID: benchDelivery(i), EventID: fmt.Sprintf("evt_%026d", i), OrgID: e.OrgID, EndpointID: e.ID, EndpointNumber: e.Number,
		CreatedAt: at, FirstAttemptAt: at, EventType: []string{"member.added", "file.uploaded", "member.removed"}[i%3],
	}
}

func addBench(tx store.Tx, d store.Delivery) error {
	err := tx.AddEvent(store.Event{
		ID: d.EventID, OrgID: d.OrgID, Type: d.EventType, CreatedAt: d.CreatedAt, Deliveries: []string{d.ID},
		Body: []byte(`{"type":"member.added","timestamp":"2026-10-06T12:00:00.000Z","data":{"orgId":"org_acme","memberId":"mem_6","userId":"usr_zoe","role":"member"}}`),
	})
	if err != nil {
		return err
	}
	return tx.AddDelivery(d)
}
