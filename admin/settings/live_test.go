package settings

import (
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

// What a page of an endpoint asks for again has its notice, its buttons, the numbers of
// its range and the last deliveries, as they are now.
func TestEndpointLive(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	b, path := w.signedIn("usr_ada"), "/orgs/org_acme/endpoints/whe_1"
	b.get(path+"?range=7d").wants(t, 200, `data-live="/settings`+path+`/live?range=7d" data-part="head"`, "Nothing was sent yet<")
	if n := strings.Count(b.get(path).Body, "Send test</button>"); n != 1 {
		t.Errorf("an endpoint to which nothing was sent has %d buttons for it", n)
	}
	d := w.test("whe_1")
	w.attempt(d.ID, 500, "no", "broken", time.Hour)
	live := b.get(path + "/live?range=7d")
	live.wants(t, 200, `<div data-part="head">`, `<div data-part="notice">`, `<div data-part="stats">`, `<div data-part="latest">`, "Failing", "broken", "Send test</button>", "/replay\"")
	if strings.Contains(live.Body, "<html") || strings.Contains(live.Body, "data-done") || strings.Contains(live.Body, `class="chart"`) {
		t.Errorf("got %s", live.Body)
	}
	w.Update(func(tx store.Tx) error { return store.DisableEndpoint(tx, "usr_alan", "org_acme", "whe_1") })
	b.get(path+"/live").wants(t, 200, "Disabled by <bdi title=\"usr_alan\">Alan</bdi>", "Enable</button>", "Held</dt>", `title="Sent once the endpoint is enabled">–</span>`)
	b.get("/orgs/org_acme/endpoints/whe_none/live").wants(t, 404)

	w.setRole("usr_grace", store.RoleViewer)
	seen := w.signedIn("usr_grace").get(path + "/live")
	seen.wants(t, 200, "Disabled by", "webhook.test")
	if strings.Contains(seen.Body, "<form") || strings.Contains(seen.Body, "formaction") {
		t.Errorf("a viewer has a form: %s", seen.Body)
	}
}

// A page that is left open does not keep its session.
func TestLivePartsKeepNoSession(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	for range 3 {
		w.Advance(store.SessionIdle / 3)
		b.get("/orgs/org_acme/endpoints/whe_1/live")
		w.backgroundDone()
	}
	w.Advance(time.Second)
	if r := b.get("/orgs/org_acme/endpoints/whe_1/live"); r.Status != 303 {
		t.Errorf("the session goes on: %d", r.Status)
	}
}
