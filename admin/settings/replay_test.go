package settings

import (
	"net/url"
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
	b.get("/orgs/org_acme/replay?endpoint=whe_1&state=retrying").wants(t, 200, "There is nothing to replay")
	b.get("/orgs/org_acme/replay?endpoint=whe_none").wants(t, 404)
	form := url.Values{"endpoint": {"whe_1"}, "state": {"unsuccessful"}, "since": {since.Format(time.RFC3339Nano)}}
	b.get("/orgs/org_acme/replay?"+form.Encode()).wants(t, 200, "Retry 1 unsuccessful")
	r := b.post("/orgs/org_acme/replay", form)
	page := strings.TrimPrefix(r.location(), Path)
	b.get(page).wants(t, 200, "0 of 1", "<progress", "data-live", "Cancel")
	if err := store.RunReplays(t.Context(), w.Store); err != nil {
		t.Fatal(err)
	}
	b.get(page+"/live").wants(t, 200, "1 delivery was queued again", "data-done")
	if ids := w.deliveries("whe_1", "waiting", ""); len(ids) != 1 {
		t.Errorf("%v wait", ids)
	}
	r = b.post("/orgs/org_acme/replay", url.Values{"id": {early.ID, "whd_none"}})
	cancelled := strings.TrimPrefix(r.location(), Path)
	b.post(cancelled+"/cancel", nil).leads(t, cancelled+"?done=replay-cancelled")
	b.get(cancelled).wants(t, 200, "Cancelled at", "0 of 1")
}
