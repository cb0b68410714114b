package settings

import (
	"net/url"
	"sync"
	"testing"
)

// A form that is sent many times at once makes one thing, and each answer leads to
// it. Another person's makes another.
func TestFormsAtOnce(t *testing.T) {
	w := newEnv(t)
	form := url.Values{"nonce": {"n"}, "url": {"https://example.com/hook"}, "events": {"member.added"}, "same-url": {"yes"}}
	var group sync.WaitGroup
	leads := make([]string, 8)
	b := w.signedIn("usr_ada")
	for i := range leads {
		group.Go(func() { leads[i] = b.post("/orgs/org_acme/new-endpoint", form).location() })
	}
	group.Wait()
	for _, location := range leads {
		if location == "" || location != leads[0] {
			t.Errorf("they lead to %v", leads)
		}
	}
	if n := len(w.endpoints()); n != 1 {
		t.Errorf("there are %d endpoints", n)
	}
	if other := w.signedIn("usr_alan").post("/orgs/org_acme/new-endpoint", form); other.Status != 303 || other.location() == leads[0] {
		t.Errorf("another person's: %d %s", other.Status, other.location())
	}
}

// What is wrong is not kept: the same form may be right later.
func TestFormOnceAfterAnError(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	form := url.Values{"nonce": {"n"}, "url": {"https://example.com/hook"}, "events": {"invoice.paid"}}
	b.post("/orgs/org_acme/new-endpoint", form).wants(t, 400)
	w.registerType("invoice.paid", "")
	b.post("/orgs/org_acme/new-endpoint", form).wants(t, 303)
}
