package settings

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// How much org_acme has in a large env.
const (
	largeMembers = 10_000
	largeEntries = 200_000
	largeKeys    = 1_000
)

type largePage struct{ name, path string }

// largePages are the pages that BenchmarkPages asks for, with largeWebhookPages.
var largePages = []largePage{
	{"overview", "/orgs/org_acme"},
	{"keys", "/orgs/org_acme/keys"},
	{"key", "/orgs/org_acme/keys/key_0500"},
	{"new-key", "/orgs/org_acme/new-key"},
	{"members", "/orgs/org_acme/members"},
	{"members/found", "/orgs/org_acme/members?q=usr_01"},
	{"members/no-match", "/orgs/org_acme/members?q=nobody"},
	{"audit-log", "/orgs/org_acme/audit-log"},
	{"audit-log/found", "/orgs/org_acme/audit-log?actor=usr_7"},
	{"audit-log/no-match", "/orgs/org_acme/audit-log?actor=nobody"},
	{"instructions", "/orgs/org_acme/instructions"},
	{"subscription", "/orgs/org_acme/subscription"},
}

// largeFills make the env of BenchmarkPages large.
var largeFills = []func(*env){
	(*env).fillMembers, (*env).fillEntries, (*env).fillKeys, (*env).fillCounts, (*env).fillInstructions, (*env).fillDeliveries, (*env).fillReplay,
}

// BenchmarkPages asks for each page of an org that has much, and reports when the
// first byte of the answer is there: in the middle, and at the slowest but one of
// a hundred. Its baseline is the icon, which is in memory, in turns with the page.
func BenchmarkPages(b *testing.B) {
	w := newEnv(b)
	for _, fill := range largeFills {
		fill(w)
	}
	client, baseline := w.signedIn("usr_ada"), strings.TrimPrefix(loadAssets(Brand{}).Asset("inter-OFL.txt"), Path)
	for _, page := range slices.Concat(largePages, largeWebhookPages) {
		b.Run(page.name, func(b *testing.B) {
			var times, baselines []time.Duration
			for b.Loop() {
				times = append(times, client.firstByte(b, page.path))
				baselines = append(baselines, client.firstByte(b, baseline))
			}
			reportTimes(b, "", times)
			reportTimes(b, "baseline-", baselines)
		})
	}
}

func reportTimes(b *testing.B, name string, times []time.Duration) {
	slices.Sort(times)
	for _, percent := range []int{50, 99} {
		b.ReportMetric(float64(times[len(times)*percent/100].Microseconds())/1000, fmt.Sprintf("%sp%d-ms", name, percent))
	}
}

// BenchmarkAuditExport exports a large audit log, whole.
func BenchmarkAuditExport(b *testing.B) {
	w := newEnv(b)
	w.fillEntries()
	client := w.signedIn("usr_ada")
	for b.Loop() {
		client.firstByte(b, exportPath+"csv")
	}
	b.ReportMetric(float64(largeEntries*b.N)/b.Elapsed().Seconds(), "entries/s")
}

// firstByte is how long the first byte of a page takes.
func (b *browser) firstByte(t *testing.B, path string) time.Duration {
	var first time.Time
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotFirstResponseByte: func() { first = time.Now() }})
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.server.URL+Path+path, nil)
	kit.Must(t, err)
	start := time.Now()
	res, err := b.client.Do(r)
	kit.Must(t, err)
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != 200 {
		t.Fatalf("%s: %d, %v", path, res.StatusCode, err)
	}
	return first.Sub(start)
}

// updates does fn n times, in transactions that are large and not too large.
func (w *env) updates(n int, fn func(tx store.Tx, i int) error) {
	for from := 0; from < n; from += 10_000 {
		w.Update(func(tx store.Tx) error {
			for i := from; i < min(from+10_000, n); i++ {
				if err := fn(tx, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func (w *env) fillMembers() {
	w.updates(largeMembers, func(tx store.Tx, i int) error {
		_, err := store.ImportMember(tx, store.Member{
			OrgID: "org_acme", UserID: fmt.Sprintf("usr_%05d", i), Role: []string{"member", "admin"}[i%100/99], Name: fmt.Sprintf("Person %d", i), Email: fmt.Sprintf("person%d@acme.example", i),
		})
		return err
	})
}

func (w *env) fillEntries() {
	w.updates(largeEntries, func(tx store.Tx, i int) error {
		_, err := store.AppendAudit(tx, store.AuditEntry{
			OrgID: "org_acme", ActorID: fmt.Sprintf("usr_%d", i%100), Action: []string{"member.added", "file.uploaded", "member.removed"}[i%3], TargetID: fmt.Sprintf("mem_%d", i),
		})
		return err
	})
}

func (w *env) fillKeys() {
	w.updates(largeKeys, func(tx store.Tx, i int) error {
		_, err := store.ImportKey(tx, store.APIKey{ID: fmt.Sprintf("key_%04d", i), OrgID: "org_acme", Scopes: store.ScopeRead, CreatedBy: "usr_ada"})
		return err
	})
}

// fillCounts gives as many endpoints as an org may have counts of each hour that
// they are kept.
func (w *env) fillCounts() {
	for i := range store.MaxEndpoints {
		e := w.addEndpoint(store.Endpoint{ID: fmt.Sprintf("whe_%02d", i)})
		w.updates(int(store.DeliveryCountsRetention/time.Hour), func(tx store.Tx, hour int) error {
			return tx.AddDeliveryCounts("org_acme", e.Number, kit.Noon.Add(-time.Duration(hour)*time.Hour), store.DeliveryCounts{
				Acknowledged: 1000, Retrying: 30, Failed: 2, Latency: [8]int{300, 500, 100, 50, 30, 10, 5, 5},
			})
		})
	}
}

func (w *env) fillInstructions() { w.instruct("Be brief.") }

const (
	largeDeliveries = 1_000_000 // that are finished, half of them at whe_00
	largeWaiting    = 1_100     // at each endpoint but the last, that were not attempted
	largeRetrying   = 100_000   // at the last
	largeFannedOut  = 1_000     // events that all endpoints got
)

// benchDelivery and benchEvent are ids of a delivery of a large env, and of its event.
func benchDelivery(i int) string { return fmt.Sprintf("whd_%026d", i) }
func benchEvent(i int) string    { return fmt.Sprintf("evt_%026d", i) }

// largeWebhookPages are more pages for BenchmarkPages.
var largeWebhookPages = []largePage{
	{"endpoints", "/orgs/org_acme/endpoints"},
	{"new-endpoint", "/orgs/org_acme/new-endpoint"},
	{"endpoint", "/orgs/org_acme/endpoints/whe_00"},
	{"endpoint/settings", "/orgs/org_acme/endpoints/whe_00/settings"},
	{"endpoint/secret", "/orgs/org_acme/endpoints/whe_00/secret"},
	{"replay", "/orgs/org_acme/replay?endpoint=whe_00"},
	{"endpoint/verify", "/orgs/org_acme/endpoints/whe_00/verify"},
	{"deliveries", "/orgs/org_acme/endpoints/whe_00/deliveries"},
	{"deliveries/acknowledged", "/orgs/org_acme/endpoints/whe_00/deliveries?state=acknowledged"},
	{"deliveries/deep", "/orgs/org_acme/endpoints/whe_00/deliveries?state=acknowledged&after=" + fmt.Sprint(kit.Noon.Add(-10*24*time.Hour).UnixMilli()) + ".whd_x"},
	{"deliveries/found", "/orgs/org_acme/endpoints/whe_00/deliveries?state=failed&type=file.uploaded"},
	{"deliveries/no-match", "/orgs/org_acme/endpoints/whe_00/deliveries?type=none"},
	{"delivery", "/orgs/org_acme/deliveries/" + benchDelivery(500)},
	{"delivery/live", "/orgs/org_acme/deliveries/" + benchDelivery(500) + "/live"},

	{"endpoint/1h", "/orgs/org_acme/endpoints/whe_00?range=1h"},
	{"endpoint/7d", "/orgs/org_acme/endpoints/whe_00?range=7d"},
	{"endpoint/30d", "/orgs/org_acme/endpoints/whe_00?range=30d"},
	{"endpoint/failing", "/orgs/org_acme/endpoints/whe_49"},
	{"endpoint/failing/deliveries", "/orgs/org_acme/endpoints/whe_49/deliveries"},
	{"overview/1h", "/orgs/org_acme?range=1h"},
	{"overview/7d", "/orgs/org_acme?range=7d"},
	{"overview/30d", "/orgs/org_acme?range=30d"},

	{"all-deliveries", "/orgs/org_acme/deliveries"},
	{"all-deliveries/waiting", "/orgs/org_acme/deliveries?state=waiting"},
	{"all-deliveries/pending", "/orgs/org_acme/deliveries?state=pending"},
	{"all-deliveries/retrying", "/orgs/org_acme/deliveries?state=retrying"},
	{"all-deliveries/failed", "/orgs/org_acme/deliveries?state=failed"},
	{"all-deliveries/acknowledged", "/orgs/org_acme/deliveries?state=acknowledged"},
	{"all-deliveries/type", "/orgs/org_acme/deliveries?type=file.uploaded"},
	{"all-deliveries/status", "/orgs/org_acme/deliveries?status=5xx"},
	{"all-deliveries/between", "/orgs/org_acme/deliveries?since=" + benchTime(20) + "&until=" + benchTime(19)},
	{"all-deliveries/of-a-day", "/orgs/org_acme/deliveries?time=24h&state=failed"},
	{"all-deliveries/id", "/orgs/org_acme/deliveries?q=" + benchDelivery(500)},
	{"all-deliveries/event-id", "/orgs/org_acme/deliveries?q=" + benchEvent(500)},
	{"all-deliveries/no-id", "/orgs/org_acme/deliveries?q=whd_none"},
	{"all-deliveries/no-match", "/orgs/org_acme/deliveries?type=none"},
	{"all-deliveries/no-status", "/orgs/org_acme/deliveries?status=301"},
	{"all-deliveries/oldest", "/orgs/org_acme/deliveries?until=" + benchTime(29)},
	{"all-deliveries/oldest-failed", "/orgs/org_acme/deliveries?state=failed&status=503&until=" + benchTime(29)},
	{"all-deliveries/too-old", "/orgs/org_acme/deliveries?until=" + benchTime(60)},

	{"events", "/orgs/org_acme/events"},
	{"events/type", "/orgs/org_acme/events?type=file.uploaded"},
	{"events/no-match", "/orgs/org_acme/events?type=none"},
	{"events/deep", "/orgs/org_acme/events?after=" + fmt.Sprint(kit.Noon.Add(-10*24*time.Hour).UnixMilli()) + ".whd_x"},

	{"replay/all", "/orgs/org_acme/replay"},
	{"replay/failed", "/orgs/org_acme/replay?state=failed"},
	{"replay/no-match", "/orgs/org_acme/replay?type=none"},
	{"replay/job", "/orgs/org_acme/replays/" + benchReplay},
	{"replay/job/live", "/orgs/org_acme/replays/" + benchReplay + "/live"},
}

// benchTime is a time some days ago, in a query.
func benchTime(days int) string {
	return kit.Noon.AddDate(0, 0, -days).Format(time.RFC3339)
}

// benchReplay is the id of a job of a large env.
const benchReplay = "rpl_large"

func (w *env) fillReplay() {
	w.Update(func(tx store.Tx) error {
		return tx.PutReplayJob(store.ReplayJob{
			ID: benchReplay, OrgID: "org_acme", ActorID: "usr_ada", Filter: store.DeliveryFilter{State: "failed", Endpoint: "whe_00"},
			Total: 50_000, State: store.ReplayRunning, Done: 20_000, CreatedAt: kit.Noon,
		})
	})
}

// fillDeliveries gives the endpoints as many deliveries as a busy month makes. One
// in ten failed, after three attempts.
func (w *env) fillDeliveries() {
	endpoints := w.endpoints()
	answer := []byte(strings.Repeat("no ", 100))
	w.updates(largeDeliveries, func(tx store.Tx, i int) error {
		at := kit.Noon.Add(-30 * 24 * time.Hour).Add(time.Duration(i) * 2 * time.Second)
		d := benchOf(i, endpoints[i%2*(i/2%len(endpoints))], at)
		d.State, d.FinishedAt, d.Attempts = store.StateAcknowledged, at, 1
		d.History = []store.Attempt{{StartedAt: at, EndedAt: at.Add(time.Second), Status: 200}}
		if i%20 < 2 {
			failed := store.Attempt{StartedAt: at, EndedAt: at, Status: 503, Reason: "the receiver answered 503", Answer: answer}
			d.State, d.Attempts, d.History = store.StateFailed, 3, []store.Attempt{failed, failed, failed}
		}
		return addBench(tx, d)
	})
	last := len(endpoints) - 1
	w.updates(largeWaiting*last, func(tx store.Tx, i int) error {
		d := benchOf(largeDeliveries+i, endpoints[i%last], kit.Noon)
		d.State, d.DueAt = store.StatePending, kit.Noon.Add(-time.Duration(i)*time.Second)
		return addBench(tx, d)
	})
	w.updates(largeRetrying, func(tx store.Tx, i int) error {
		at := kit.Noon.Add(-time.Duration(i) * 100 * time.Millisecond)
		d := benchOf(2*largeDeliveries+i, endpoints[last], at)
		d.State, d.Attempts, d.DueAt = store.StateRetrying, 1, at.Add(time.Hour)
		d.History = []store.Attempt{{StartedAt: at, EndedAt: at, Status: 503, Reason: "the receiver answered 503", Answer: answer, NextAt: d.DueAt}}
		return addBench(tx, d)
	})
	w.updates(largeFannedOut, func(tx store.Tx, i int) error { return addFannedOut(tx, i, endpoints) })
}

func benchOf(i int, e store.Endpoint, at time.Time) store.Delivery {
	return store.Delivery{
		ID: benchDelivery(i), EventID: benchEvent(i), OrgID: e.OrgID, EndpointID: e.ID, EndpointNumber: e.Number,
		CreatedAt: at, FirstAttemptAt: at, EventType: []string{"member.added", "file.uploaded", "member.removed"}[i%3],
	}
}

// addFannedOut adds an event that was sent to all endpoints.
func addFannedOut(tx store.Tx, i int, endpoints []store.Endpoint) error {
	at := kit.Noon.Add(-time.Duration(i) * time.Minute)
	var all []store.Delivery
	for k, e := range endpoints {
		d := benchOf(3*largeDeliveries+i*len(endpoints)+k, e, at)
		d.EventID, d.EventType = benchEvent(3*largeDeliveries+i), "member.added"
		d.State, d.FinishedAt, d.Attempts = store.StateAcknowledged, at.Add(time.Duration(k)*time.Second), 1
		d.History = []store.Attempt{{StartedAt: at, EndedAt: d.FinishedAt, Status: 200}}
		all = append(all, d)
	}
	return addBench(tx, all...)
}

// addBench adds the deliveries of one event.
func addBench(tx store.Tx, deliveries ...store.Delivery) error {
	d, ids := deliveries[0], []string{}
	for _, d := range deliveries {
		ids = append(ids, d.ID)
	}
	return tx.AddEvent(store.Event{
		ID: d.EventID, OrgID: d.OrgID, Type: d.EventType, CreatedAt: d.CreatedAt, Deliveries: ids,
		Body: []byte(`{"type":"member.added","timestamp":"2026-10-06T12:00:00.000Z","data":{"orgId":"org_acme","memberId":"mem_6","userId":"usr_zoe","role":"member"}}`),
	}, deliveries)
}
