package settings

import (
	"strings"
	"testing"

	"teamdata/store"
)

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
