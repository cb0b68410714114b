package settings

import (
	"net/url"
	"strings"
	"testing"

	"teamdata/store"
)

func TestAddEndpoint(t *testing.T) {
	w := newWorld(t)
	w.registerType("invoice.paid", "An <invoice> was paid.")
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/new-endpoint").wants(t, 200, "invoice.paid", "An &lt;invoice&gt; was paid.", "Somebody joins the org.", `aria-current="page">Webhooks`)
	form := url.Values{
		"nonce": {b.nonce("/orgs/org_acme/new-endpoint")}, "url": {"https://example.com/hook?a=<b>"}, "description": {"The <b>CRM</b>"},
		"events": {"member.added", "invoice.paid"}, "secret": {ownSecret},
	}
	first := b.post("/orgs/org_acme/new-endpoint", form)
	again := b.post("/orgs/org_acme/new-endpoint", form)
	if first.status != 303 || first.location != again.location {
		t.Fatalf("sent twice: %d %q, then %d %q", first.status, first.location, again.status, again.location)
	}
	endpoints := w.endpoints()
	if len(endpoints) != 1 || endpoints[0].Secret != ownSecret || endpoints[0].Description != "The <b>CRM</b>" {
		t.Fatalf("there are %+v", endpoints)
	}
	page := b.get(strings.TrimPrefix(first.location, Path))
	page.wants(t, 200, "The endpoint was added. Send a test", "https://example.com/hook?a=&lt;b&gt;", "The &lt;b&gt;CRM&lt;/b&gt;", "invoice.paid", "Send test</button>")
	if strings.Contains(page.body, ownSecret[6:]) {
		t.Error("the secret is shown unasked")
	}
	form.Set("nonce", b.nonce("/orgs/org_acme/new-endpoint"))
	if other := b.post("/orgs/org_acme/new-endpoint", form); other.status != 303 || other.location == first.location {
		t.Errorf("on purpose: %d %q", other.status, other.location)
	}
}

func (w *world) endpoints() (all []store.Endpoint) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		all, err = tx.Endpoints("org_acme")
		return err
	})
	return all
}

func TestAddEndpointErrors(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn("usr_ada")
	for name, test := range map[string]struct {
		change url.Values
		wants  []string
	}{
		"http":        {url.Values{"url": {"http://example.com"}}, []string{`href="#url"`, `id="url-error"`, "must start with https://", `value="http://example.com"`}},
		"no events":   {url.Values{"events": nil}, []string{`href="#events"`, `id="events-error"`, "at least one event type", `value="https://example.com/hook"`}},
		"unknown":     {url.Values{"events": {"<x>"}}, []string{"&lt;x&gt;", `id="events-error"`}},
		"description": {url.Values{"description": {strings.Repeat("ä", 501)}}, []string{`id="description-error"`, "501 characters"}},
		"secret":      {url.Values{"secret": {"whsec_short"}}, []string{`id="secret-error"`, `aria-describedby="secret-error secret-hint"`, `value="member.added" checked`}},
	} {
		t.Run(name, func(t *testing.T) {
			form := url.Values{"url": {"https://example.com/hook"}, "events": {"member.added"}}
			for field, values := range test.change {
				form[field] = values
			}
			r := b.post("/orgs/org_acme/new-endpoint", form)
			r.wants(t, 400, test.wants...)
			if strings.Contains(r.body, "whsec_short") {
				t.Error("the secret is shown again")
			}
		})
	}
	if n := len(w.endpoints()); n != 0 {
		t.Errorf("there are %d endpoints", n)
	}
}

func TestEditEndpoint(t *testing.T) {
	w := newWorld(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_alan")
	b.get("/orgs/org_acme/endpoints/whe_1/edit").wants(t, 200, `value="https://example.com/whe_1"`, `value="member.added" checked`)
	form := url.Values{"url": {"https://example.com/new"}, "description": {"moved"}, "events": {"member.removed"}}
	b.post("/orgs/org_acme/endpoints/whe_1/edit", form).leads(t, "/orgs/org_acme/endpoints/whe_1?done=endpoint-updated")
	if e := w.findEndpoint("whe_1"); e.URL != "https://example.com/new" || e.Description != "moved" || !e.Selects("member.removed") || e.Selects("member.added") {
		t.Errorf("it is %+v", e)
	}
	form.Del("events")
	b.post("/orgs/org_acme/endpoints/whe_1/edit", form).wants(t, 400, `id="events-error"`)
}

// registerType adds an event type of the operator's own.
func (w *world) registerType(name, description string) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		_, _, err := store.RegisterEventType(tx, store.EventType{Name: name, Description: description})
		return err
	})
}
