package settings

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"teamdata/store"
)

// Every path below an org, with ids of another org in it: nothing is shown, and
// nothing changes there. usr_ada manages both orgs, usr_alan only the first.
func TestOtherOrgs(t *testing.T) {
	w := newEnv(t)
	var d store.Delivery
	w.Update(func(tx store.Tx) (err error) {
		if d, err = store.SendTest(tx, "org_other", "whe_other"); err != nil {
			return err
		}
		_, err = store.ImportKey(tx, store.APIKey{ID: "key_other", OrgID: "org_other", Scopes: store.ScopeRead, CreatedBy: "usr_olga"})
		return err
	})
	before := w.otherOrg(d.ID)
	ids := strings.NewReplacer(":endpoint", "whe_other", ":delivery", d.ID, ":key", "key_other", ":member", "usr_olga", ":event", d.EventID)
	for user, orgs := range map[string][]string{"usr_ada": {"org_acme", "org_none"}, "usr_alan": {"org_acme", "org_other"}} {
		b := w.signedIn(user)
		for _, rt := range routes {
			if !strings.HasPrefix(rt.path, "/orgs/:org") {
				continue
			}
			for _, org := range orgs {
				path := ids.Replace(strings.Replace(rt.path, ":org", org, 1))
				if org == "org_acme" && path == strings.Replace(rt.path, ":org", org, 1) {
					continue // all of it is the person's own
				}
				r := b.do(rt.method, path, formOfAnother())
				r.wants(t, 404, "Page not found")
				if strings.Contains(r.Body, "other.example") {
					t.Errorf("%s %s shows what is another org's", rt.method, path)
				}
			}
		}
	}
	if after := w.otherOrg(d.ID); after != before {
		t.Errorf("it was %s, and is %s", before, after)
	}
}

// A deleted org has no page any more, for someone who also manages another; someone
// who managed no other is signed out once its data is dropped.
func TestDeletedOrg(t *testing.T) {
	w := newEnv(t)
	ada, alan := w.signedIn("usr_ada"), w.signedIn("usr_alan")
	ada.get("/orgs/org_acme").wants(t, 200, "")
	w.Update(func(tx store.Tx) error { return store.DeleteOrg(tx, "org_acme") })
	for _, path := range []string{"/orgs/org_acme", "/orgs/org_acme/members", "/orgs/org_acme/audit-log", "/orgs/org_acme/keys"} {
		ada.get(path).wants(t, 404, "Page not found")
		alan.get(path).wants(t, 404, "Page not found")
	}
	ada.get("/orgs/org_other").wants(t, 200, "")
	if err := store.DropRemoved(t.Context(), w.Store); err != nil {
		t.Fatal(err)
	}
	ada.get("/orgs/org_other").wants(t, 200, "")
	alan.get("/orgs").wants(t, 303, "")
}

// formOfAnother is what the forms want, so that nothing but the ids is wrong.
func formOfAnother() url.Values {
	return url.Values{
		"url": {"https://evil.example"}, "description": {"mine"}, "events": {"member.added"}, "overlap": {"0"}, "span": {"7d"},
		"headers": {"webhook-id: x"}, "body": {"x"}, "name": {"mine"}, "scopes": {"read"}, "expiry": {"never"}, "text": {"mine"},
		"role": {"admin"}, "email": {"evil@evil.example"},
	}
}

// otherOrg is all that there is of org_other.
func (w *env) otherOrg(deliveryID string) (text string) {
	w.Helper()
	w.View(func(tx store.Tx) error {
		e, err := tx.Endpoint("org_other", "whe_other")
		if err != nil {
			return err
		}
		d, err := tx.Delivery(deliveryID)
		if err != nil {
			return err
		}
		k, err := tx.APIKey("key_other")
		if err != nil {
			return err
		}
		i, err := tx.Instructions("org_other")
		if err != nil {
			return err
		}
		log, err := tx.AuditPageBefore("org_other", store.Cursor{}, 100, nil)
		text = fmt.Sprintf("%+v %+v %+v %+v %s", e, d, k, i, log.Items)
		return err
	})
	return text
}
