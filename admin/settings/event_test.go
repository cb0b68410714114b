package settings

import (
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

// sent emits an event of org_acme, and returns its deliveries.
func (w *env) sent(eventType, data string) (sent []store.Delivery) {
	w.Helper()
	w.Update(func(tx store.Tx) (err error) {
		sent, err = store.Emit(tx, "org_acme", eventType, []byte(data))
		return err
	})
	return sent
}

// An event's page has its payload and what became of each of its deliveries, and the
// list, a delivery and the audit log lead to it.
func TestEvent(t *testing.T) {
	w := newEnv(t)
	for _, id := range []string{"whe_1", "whe_2", "whe_3", "whe_4"} {
		w.endpoint(id, "member.added")
	}
	sent := w.sent("member.added", `{"name":"</code><b>"}`)
	w.attempt(sent[0].ID, 500, "no", "broken", time.Hour)
	w.attempt(sent[1].ID, 204, "", "")
	w.Update(func(tx store.Tx) error {
		if err := store.RemoveEndpoint(tx, "", "org_acme", "whe_4"); err != nil {
			return err
		}
		if _, err := store.AppendAudit(tx, store.AuditEntry{OrgID: "org_acme", Action: "event.seen", TargetID: sent[0].EventID}); err != nil {
			return err
		}
		return store.DisableEndpoint(tx, "", "org_acme", "whe_3")
	})
	b, path := w.signedIn("usr_ada"), "/orgs/org_acme/events/"+sent[0].EventID
	page := b.get(path)
	page.wants(t, 200, "<title>member.added · "+sent[0].EventID, "&lt;/code&gt;&lt;b&gt;", `<span class="k">&#34;type&#34;</span>: <span class="s">&#34;member.added&#34;</span>`, " bytes</span>",
		"/deliveries/"+sent[0].ID+`/replay"`, "Retrying", "broken", "Acknowledged", "Held", "Sent once enabled")
	if n := strings.Count(page.Body, "/replay\""); n != 1 {
		t.Errorf("%d deliveries can be replayed", n)
	}
	if strings.Contains(page.Body, sent[3].ID) {
		t.Error("a delivery to a deleted endpoint is shown")
	}
	b.get(path+"?body=raw").wants(t, 200, "<code>{&#34;type&#34;:&#34;member.added&#34;")
	for _, from := range []string{"/orgs/org_acme/events", "/orgs/org_acme/deliveries/" + sent[0].ID, auditPath} {
		b.get(from).wants(t, 200, `href="/settings`+path+`"`)
	}
	b.get("/orgs/org_acme/events/evt_none").wants(t, 404)

	w.setRole("usr_grace", store.RoleViewer)
	seen := w.signedIn("usr_grace").get(path)
	seen.wants(t, 200, "Retrying", "Sent once enabled", "/deliveries/"+sent[1].ID)
	if strings.Contains(seen.Body, "/replay") {
		t.Error("a viewer may replay")
	}
}

// Lists say when the next attempt is: now, later, or not while the delivery is held.
func TestNextAttempt(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	next := func(want string) {
		t.Helper()
		for _, path := range []string{"/deliveries", "/endpoints/whe_1"} {
			b.get("/orgs/org_acme"+path).wants(t, 200, `<td class="desk wide">`+want)
		}
	}
	d := w.test("whe_1")
	next(`<span class="muted">now</span></td>`)
	w.attempt(d.ID, 500, "the receiver answered 500", "no", time.Hour)
	next("<time datetime=")
	w.Advance(2 * time.Hour)
	next(`<span class="muted">now</span></td>`)
	w.Update(func(tx store.Tx) error { return store.DisableEndpoint(tx, "usr_ada", "org_acme", "whe_1") })
	next(`<span class="muted" title="Sent once the endpoint is enabled">–</span></td>`)
	w.Update(func(tx store.Tx) error { return store.EnableEndpoint(tx, "usr_ada", "org_acme", "whe_1") })
	w.attempt(d.ID, 204, "", "")
	next("</td>")
}

// A delivery to a disabled endpoint is sent once that is enabled, and nothing on its
// page says that it is sent sooner.
func TestReplayOfHeld(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	d := w.test("whe_1")
	w.attempt(d.ID, 500, "no", "broken")
	w.Update(func(tx store.Tx) error { return store.DisableEndpoint(tx, "", "org_acme", "whe_1") })
	b, path := w.signedIn("usr_ada"), "/orgs/org_acme/deliveries/"+d.ID
	b.get(path).wants(t, 200, "Retry once enabled</button>")
	b.post(path+"/replay", nil).leads(t, path+"?done=delivery-replayed")
	for _, page := range []string{path + "?done=delivery-replayed", path + "/live"} {
		r := b.get(page)
		r.wants(t, 200, "Held:", "The delivery is sent once the endpoint is enabled.")
		for _, wrong := range []string{"Retry now", "Retry</button>", "Retry once enabled", "on its way", "in a moment", "due now"} {
			if strings.Contains(r.Body, wrong) {
				t.Errorf("%s says %q", page, wrong)
			}
		}
	}
	b.get("/orgs/org_acme/endpoints/whe_1").wants(t, 200, `title="Sent once the endpoint is enabled">–</span>`, "1 delivery is held")
}

// After a delivery was acknowledged, whatever was done before, no part of its page says
// that it is still to be sent.
func TestNothingDeniesAcknowledged(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	path, _, _ := strings.Cut(strings.TrimPrefix(b.post("/orgs/org_acme/endpoints/whe_1/test", nil).location(), Path), "?")
	w.attempt(path[strings.LastIndex(path, "/")+1:], 204, "", "")
	for _, page := range []string{path + "?done=test-sent", path + "?done=delivery-replayed", path + "/live"} {
		r := b.get(page)
		r.wants(t, 200, "Acknowledged</strong>", "data-done")
		for _, wrong := range []string{"on its way", "Queued", "Pending", "in a moment", "Held", "Retrying", `class="notice" role="status"`} {
			if strings.Contains(r.Body, wrong) {
				t.Errorf("%s says %q", page, wrong)
			}
		}
	}
}
