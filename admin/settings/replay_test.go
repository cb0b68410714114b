package settings

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

// A replay of many shows what it would take, is started by the form, and its page shows
// how far it is until it is done.
func TestReplayMany(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	early, late, never := w.test("whe_1"), w.test("whe_1"), w.test("whe_1")
	w.attempt(never.ID, 200, "", "")
	w.attempt(early.ID, 500, "no", "")
	w.Advance(2 * time.Hour)
	since := w.Now()
	w.attempt(late.ID, 500, "no", "")
	w.Advance(time.Second)
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/replay?endpoint=whe_1").wants(t, 200, "Retry 2 unsuccessful", "All not acknowledged", "Retry all 2")
	b.get("/orgs/org_acme/replay?endpoint=whe_1&state=retrying").wants(t, 200, "<title>Retry deliveries now ·", "<h1>Retry deliveries now</h1>", "Nothing to retry")
	b.get("/orgs/org_acme/replay?endpoint=whe_none").wants(t, 404)
	form := url.Values{"endpoint": {"whe_1"}, "state": {"unsuccessful"}, "since": {since.Format(time.RFC3339Nano)}}
	b.get("/orgs/org_acme/replay?"+form.Encode()).wants(t, 200, "Retry 1 unsuccessful")
	r := b.post("/orgs/org_acme/replay", form)
	page := strings.TrimPrefix(r.location(), Path)
	b.get(page).wants(t, 200, "0 of 1", "<progress", "data-live", "Cancel")
	if err := store.RunReplays(t.Context(), w.Store); err != nil {
		t.Fatal(err)
	}
	b.get(page+"/live").wants(t, 200, "<strong>1 delivery was queued again,</strong> in less than 1 s.", "<dt>Waiting</dt><dd>1</dd>")
	if ids := w.deliveries("whe_1", "waiting", ""); len(ids) != 1 {
		t.Errorf("%v wait", ids)
	}
	r = b.post("/orgs/org_acme/replay", url.Values{"id": {early.ID, "whd_none"}})
	cancelled := strings.TrimPrefix(r.location(), Path)
	b.post(cancelled+"/cancel", nil).leads(t, cancelled+"?done=replay-cancelled")
	b.get(cancelled).wants(t, 200, "<strong>Cancelled:</strong> 0 of 1 were queued again.", "Those that were ticked", "data-done")
}

// The heading says which deliveries are retried, and how many, as far as they were counted.
func TestReplayHeading(t *testing.T) {
	for want, p := range map[string]replayPage{
		"failed deliveries":                {Filter: store.DeliveryFilter{State: "failed"}},
		"1 failed delivery":                {Filter: store.DeliveryFilter{State: "failed"}, Preview: store.ReplayPreview{Total: 1}},
		"1 or more failed deliveries":      {Filter: store.DeliveryFilter{State: "failed"}, Preview: store.ReplayPreview{Total: 1, More: true}},
		"10,000 unsuccessful deliveries":   {Filter: store.DeliveryFilter{State: "unsuccessful"}, Preview: store.ReplayPreview{Total: 10_000}},
		"2 deliveries now":                 {Filter: store.DeliveryFilter{State: "retrying"}, Preview: store.ReplayPreview{Total: 2}},
		"2 ticked deliveries":              {Ticked: []string{"whd_1", "whd_2"}, Preview: store.ReplayPreview{Total: 2}},
		"deliveries that a filter selects": {Filter: store.DeliveryFilter{State: "failed"}, Preview: store.ReplayPreview{More: true}},
	} {
		if got := p.Many(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// The page of a job follows its deliveries: how many were acknowledged, wait, and failed
// again. What the job did not queue doesn't count, but its links have all that was
// attempted or failed since it began, as they say.
func TestReplayFollowed(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	var ids []string
	for range 4 {
		ids = append(ids, w.test("whe_1").ID)
	}
	w.attempt(w.test("whe_1").ID, 200, "", "") // so that the endpoint stays enabled
	for _, id := range ids {
		w.attempt(id, 500, "no", "")
	}
	waiting := w.test("whe_1").ID
	w.attempt(waiting, 500, "no", "", time.Minute)
	w.Advance(time.Minute)
	b := w.signedIn("usr_ada")
	r := b.post("/orgs/org_acme/replay", url.Values{"endpoint": {"whe_1"}, "state": {"failed"}})
	page := strings.TrimPrefix(r.location(), Path)
	b.get(page).wants(t, 200, "0 of 4</strong> queued again", "<dt>Not yet queued</dt><dd>4</dd>", "Failed, of any type", "whe_1/deliveries?since=", ">Deliveries attempted since then<")
	if err := store.RunReplays(t.Context(), w.Store); err != nil {
		t.Fatal(err)
	}
	w.Advance(time.Second)
	w.attempt(waiting, 200, "", "")
	w.attempt(ids[0], 200, "", "")
	w.attempt(ids[1], 200, "", "")
	w.attempt(ids[2], 413, "no", "too large")
	other := w.test("whe_1").ID
	w.attempt(other, 413, "no", "too large")
	list := b.get(page)
	list.wants(t, 200, "<strong>4 deliveries were queued again,</strong>", "<dt>Acknowledged</dt><dd>2</dd>", "<dt>Waiting</dt><dd>1</dd>",
		`<dt>Failed again</dt><dd class="is-bad">1</dd>`, "1 failed again: <span class=\"tabular\">413</span>", "Retry all failed since then…", "All failed since then", ids[2])
	if strings.Contains(list.Body, ids[0]) || strings.Contains(list.Body, waiting) || strings.Contains(list.Body, other) {
		t.Error("what did not fail again is among what did")
	}
	w.attempt(ids[3], 200, "", "")
	b.get(page+"/live").wants(t, 200, "<dt>Acknowledged</dt><dd>3</dd>", "data-done")
	w.Advance(time.Second) // a job takes what was attempted before it
	retry := regexp.MustCompile(`href="([^"]*/replay\?[^"]*)"`).FindStringSubmatch(list.Body)
	b.get(strings.TrimPrefix(html.UnescapeString(retry[1]), Path)).wants(t, 200, "<h1>Retry 2 failed deliveries</h1>")
	for _, link := range regexp.MustCompile(`href="([^"]*/deliveries\?[^"]*since[^"]*)"`).FindAllStringSubmatch(list.Body, -1) {
		b.get(strings.TrimPrefix(html.UnescapeString(link[1]), Path)).wants(t, 200, ids[2], other)
	}
}
