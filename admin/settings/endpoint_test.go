package settings

import (
	"net/url"
	"testing"

	"teamdata/store"
)

func TestDisableAndEnable(t *testing.T) {
	w := newWorld(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/endpoints/whe_1/disable").wants(t, 200, "held, not lost", `action="/settings/orgs/org_acme/endpoints/whe_1/disable"`)
	b.post("/orgs/org_acme/endpoints/whe_1/disable", nil).leads(t, "/orgs/org_acme/endpoints/whe_1?done=endpoint-disabled")
	b.get("/orgs/org_acme/endpoints/whe_1?done=endpoint-disabled").wants(t, 200, "Its events are held until it is enabled.", "This endpoint is disabled", "Enable</button>")
	b.post("/orgs/org_acme/endpoints/whe_1/test", nil).wants(t, 409, "is disabled")
	b.post("/orgs/org_acme/endpoints/whe_1/enable", nil).leads(t, "/orgs/org_acme/endpoints/whe_1?done=endpoint-enabled")
	if e := w.findEndpoint("whe_1"); e.Disabled() {
		t.Error("it is disabled")
	}
}

func TestRemoveEndpoint(t *testing.T) {
	w := newWorld(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	form := url.Values{"nonce": {b.nonce("/orgs/org_acme/endpoints/whe_1/delete")}}
	for range 2 { // as by a double click
		b.post("/orgs/org_acme/endpoints/whe_1/delete", form).leads(t, "/orgs/org_acme/endpoints?done=endpoint-deleted")
	}
	b.get("/orgs/org_acme/endpoints/whe_1").wants(t, 404)
	if len(w.endpoints()) != 0 {
		t.Error("it is there")
	}
}

func TestPlanWithoutWebhooks(t *testing.T) {
	w := newWorld(t)
	w.endpoint("whe_1", "member.added")
	w.update(func(tx store.Tx) error {
		_, err := store.ChangeSubscription(tx, "", "org_acme", store.Subscription{Plan: "free"})
		return err
	})
	b := w.signedIn("usr_ada")
	for _, path := range []string{"", "/whe_1"} {
		b.get("/orgs/org_acme/endpoints"+path).wants(t, 200, "plan does not include webhooks")
	}
}
