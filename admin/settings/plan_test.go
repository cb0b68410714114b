package settings

import (
	"slices"
	"strings"
	"testing"

	"teamdata/store"
)

// Each page says what the org does without, and those of an org that has all say nothing.
func TestLacks(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	d := w.test("whe_1")
	b := w.signedIn("usr_ada")
	const webhooks, api, log = "does not include webhooks", "does not include the API", "does not include the audit log"
	pages := map[string][]string{ // by what it says
		webhooks: {"", "/endpoints", "/endpoints/whe_1", "/endpoints/whe_1/settings", "/endpoints/whe_1/deliveries", "/new-endpoint", "/deliveries", "/deliveries/" + d.ID, "/events", "/events/" + d.EventID, "/replay"},
		api:      {"", "/keys", "/new-key", "/instructions"},
		log:      {"/audit-log"},
	}
	for plan, says := range map[string][]string{"free": {webhooks, api, log}, "team": {log}, "business": {}} {
		w.Update(func(tx store.Tx) error {
			_, err := store.ChangeSubscription(tx, "", "org_acme", store.Subscription{Plan: plan})
			return err
		})
		for text, paths := range pages {
			for _, path := range paths {
				r := b.get("/orgs/org_acme" + path)
				r.wants(t, 200)
				if n := strings.Count(r.Body, text); n > 1 || (n == 1) != slices.Contains(says, text) {
					t.Errorf("%s on plan %s says %d times %q", path, plan, n, text)
				}
			}
		}
	}
}

func TestSubscription(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	subscribe := func(s store.Subscription) {
		w.Update(func(tx store.Tx) error {
			_, err := store.ChangeSubscription(tx, "", "org_acme", s)
			return err
		})
	}
	b.get("/orgs/org_acme/subscription").wants(t, 200, "selfHosted", "active", "The org can use its plan.", "auditLog")
	for plan, included := range map[string]int{"free": 0, "team": 2, "business": 3} {
		subscribe(store.Subscription{Plan: plan})
		r := b.get("/orgs/org_acme/subscription")
		r.wants(t, 200, "Features of the plan "+plan)
		if got := strings.Count(r.Body, ">included<"); got != included {
			t.Errorf("%s: %d features", plan, got)
		}
	}
	subscribe(store.Subscription{Status: "<b>cancelled", Product: `"><img>`, Interval: "<i>"})
	r := b.get("/orgs/org_acme/subscription")
	r.wants(t, 200, "the org can’t use its plan", "&lt;b&gt;cancelled", "The org can’t use its plan", "&#34;&gt;&lt;img&gt;", "&lt;i&gt;")
	b.get("/orgs/org_none/subscription").wants(t, 404)
	w.signedIn("usr_alan").get("/orgs/org_other/subscription").wants(t, 404)
}
