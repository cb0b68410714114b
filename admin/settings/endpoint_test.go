package settings

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/wire/eventtype"
)

func TestDisableAndEnable(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/endpoints/whe_1/disable").wants(t, 200, "held, not lost", `action="/settings/orgs/org_acme/endpoints/whe_1/disable"`)
	b.post("/orgs/org_acme/endpoints/whe_1/disable", nil).leads(t, "/orgs/org_acme/endpoints/whe_1?done=endpoint-disabled")
	b.get("/orgs/org_acme/endpoints/whe_1?done=endpoint-disabled").wants(t, 200, "Its events are held until it is enabled.", "Disabled by <bdi title=\"usr_ada\">Ada</bdi> <time", "Enable</button>")
	b.post("/orgs/org_acme/endpoints/whe_1/test", nil).wants(t, 409, "is disabled")
	b.post("/orgs/org_acme/endpoints/whe_1/enable", nil).leads(t, "/orgs/org_acme/endpoints/whe_1?done=endpoint-enabled")
	if e := w.findEndpoint("whe_1"); e.Disabled() {
		t.Error("it is disabled")
	}
}

// TestHeldAreDroppedAt: the page of a disabled endpoint says when the oldest delivery
// that it holds is dropped, and the question before that what will be.
func TestHeldAreDroppedAt(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "file.uploaded")
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/endpoints/whe_1/disable").wants(t, 200, "New events are held, not lost, for up to 90 days.")
	if page := b.get("/orgs/org_acme/endpoints/whe_1"); strings.Contains(page.Body, "dropped") {
		t.Error("an enabled endpoint drops something")
	}
	w.Update(func(tx store.Tx) error { return store.DisableEndpoint(tx, "usr_ada", "org_acme", "whe_1") })
	b.get("/orgs/org_acme/endpoints/whe_1").wants(t, 200, "Deliveries held for more than 90 days are dropped.")
	w.Advance(time.Hour)
	for range 2 {
		w.Update(func(tx store.Tx) error {
			_, err := store.UploadFile(tx, "usr_ada", store.File{OrgID: "org_acme", Name: "a", ContentType: "b"})
			return err
		})
	}
	at := w.Now().Add(90 * 24 * time.Hour)
	w.Advance(time.Hour)
	b.get("/orgs/org_acme/endpoints/whe_1").wants(t, 200, "are dropped, <strong>the oldest <time", formatWhole(at, time.UTC))
}

func TestRemoveEndpoint(t *testing.T) {
	w := newEnv(t)
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
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	w.Update(func(tx store.Tx) error {
		_, err := store.ChangeSubscription(tx, "", "org_acme", store.Subscription{Plan: "free"})
		return err
	})
	b := w.signedIn("usr_ada")
	for _, path := range []string{"", "/whe_1"} {
		b.get("/orgs/org_acme/endpoints"+path).wants(t, 200, "subscription does not include webhooks")
	}
}

const ownSecret = "whsec_dGVhbWRhdGEtZXhhbXBsZS1zZWNyZXQtMzItYnl0ZXM="

// endpoint adds an endpoint to org_acme.
func (w *env) endpoint(id string, events ...string) (e store.Endpoint) {
	w.Helper()
	w.Update(func(tx store.Tx) (err error) {
		e, err = store.CreateEndpoint(tx, "usr_ada", store.Endpoint{ID: id, OrgID: "org_acme", URL: "https://example.com/" + id, Events: events, Secret: ownSecret})
		return err
	})
	return e
}

// findEndpoint is an endpoint of org_acme as it is now.
func (w *env) findEndpoint(id string) (e store.Endpoint) {
	w.Helper()
	w.View(func(tx store.Tx) (err error) {
		e, err = store.FindEndpoint(tx, "org_acme", id)
		return err
	})
	return e
}

// test queues a test event for an endpoint of org_acme.
func (w *env) test(endpointID string) (d store.Delivery) {
	w.Helper()
	w.Update(func(tx store.Tx) (err error) {
		d, err = store.SendTest(tx, "org_acme", endpointID)
		return err
	})
	return d
}

// attempt records the outcome of an attempt; an empty reason: acknowledged.
func (w *env) attempt(deliveryID string, status int, reason, answer string, schedule ...time.Duration) {
	w.Helper()
	w.Update(func(tx store.Tx) error {
		_, err := store.RecordAttempt(tx, deliveryID, store.Attempt{
			StartedAt: tx.Now(), EndedAt: tx.Now().Add(12345 * time.Microsecond), Status: status, Reason: reason, Answer: []byte(answer),
		}, schedule)
		return err
	})
}

var nonceForm = regexp.MustCompile(`name="nonce" value="([^"]+)"`)

// nonce is that of the form on a page.
func (b *browser) nonce(path string) string {
	b.Helper()
	r := b.get(path)
	found := nonceForm.FindStringSubmatch(r.Body)
	if found == nil {
		b.Fatalf("%s has no nonce: %d %.2000s", path, r.Status, r.Body)
	}
	return found[1]
}

// leads holds a reply to leading to a page.
func (r reply) leads(t testing.TB, path string) {
	t.Helper()
	if r.Status != 303 || r.location() != Path+path {
		t.Fatalf("got %d %q, want %q: %.2000s", r.Status, r.location(), Path+path, r.Body)
	}
}

func TestEndpointList(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/endpoints").wants(t, 200, "No endpoints yet", "/orgs/org_acme/new-endpoint")
	w.endpoint("whe_1", "member.added", "member.removed", "file.uploaded")
	w.endpoint("whe_2", "file.uploaded")
	w.attempt(w.test("whe_1").ID, 204, "", "")
	w.attempt(w.test("whe_1").ID, 503, "the receiver answered 503", "", time.Hour)
	w.Update(func(tx store.Tx) error { return store.DisableEndpoint(tx, "usr_ada", "org_acme", "whe_2") })
	b.get("/orgs/org_acme/endpoints").wants(t, 200, "https://example.com/whe_1", "member.added and 2 more",
		`aria-label="1 acknowledged, 1 failed"`, `>50%</td>`, `endpoints/whe_1/deliveries?state=waiting">1<`, " · by Ada</span>", "never", `aria-current="page"`)
	w.Advance(25 * time.Hour)
	w.signedIn("usr_ada").get("/orgs/org_acme/endpoints/whe_1").wants(t, 200, "<dt>Acknowledged</dt><dd>0</dd>", "<dt>Waiting</dt><dd>1</dd>")
}

func TestManyWaiting(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	for want, waiting := range map[string]store.Waiting{
		"999": {Due: 999}, "1,000": {Due: 1, Later: 1, Held: 998}, "1,000+": {Held: 1000, Capped: true},
	} {
		if got := formatWaiting(waiting); got != want {
			t.Errorf("%+v: %s, not %s", waiting, got, want)
		}
	}
	w.Update(func(tx store.Tx) error {
		for range 1005 {
			if _, err := store.SendTest(tx, "org_acme", "whe_1"); err != nil {
				return err
			}
		}
		return nil
	})
	w.signedIn("usr_ada").get("/orgs/org_acme/endpoints").wants(t, 200, ">1,000&#43;<")
}

func TestAddEndpoint(t *testing.T) {
	w := newEnv(t)
	w.registerType("invoice.paid", "An <invoice> was paid.")
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/new-endpoint").wants(t, 200, "invoice.paid", "An &lt;invoice&gt; was paid.", "Somebody joins the org.", `aria-current="page"><svg class="icon" aria-hidden="true"><use href="#i-hook"/></svg>Webhooks`)
	form := url.Values{
		"nonce": {b.nonce("/orgs/org_acme/new-endpoint")}, "url": {"https://example.com/hook?a=<b>"}, "description": {"The <b>CRM</b>"},
		"events": {"member.added", "invoice.paid"}, "secret": {ownSecret},
	}
	first := b.post("/orgs/org_acme/new-endpoint", form)
	again := b.post("/orgs/org_acme/new-endpoint", form)
	if first.Status != 303 || first.location() != again.location() {
		t.Fatalf("sent twice: %d %q, then %d %q", first.Status, first.location(), again.Status, again.location())
	}
	endpoints := w.endpoints()
	if len(endpoints) != 1 || endpoints[0].Secret != ownSecret || endpoints[0].Description != "The <b>CRM</b>" {
		t.Fatalf("there are %+v", endpoints)
	}
	page := b.get(strings.TrimPrefix(first.location(), Path))
	page.wants(t, 200, "</span> was added</h1>", "https://example.com/hook?a=%3Cb%3E", ownSecret, "Send test</button>")
	b.get("/orgs/org_acme/endpoints/"+endpoints[0].ID).wants(t, 200, "The &lt;b&gt;CRM&lt;/b&gt;")
	form.Set("nonce", b.nonce("/orgs/org_acme/new-endpoint"))
	asked := b.post("/orgs/org_acme/new-endpoint", form)
	asked.wants(t, 409, "the endpoint "+endpoints[0].ID+" already has this URL", `href="#same-url"`, `<input type="checkbox" id="same-url"`, `value="https://example.com/hook?a=&lt;b&gt;"`)
	if len(w.endpoints()) != 1 {
		t.Error("it is added unasked")
	}
	form.Set("url", " https://Example.com/hook?a=<b>") // which is the same
	b.post("/orgs/org_acme/new-endpoint", form).wants(t, 409, "already has this URL")
	form.Set("same-url", "yes")
	if other := b.post("/orgs/org_acme/new-endpoint", form); other.Status != 303 || other.location() == first.location() {
		t.Errorf("on purpose: %d %q", other.Status, other.location())
	}
	b.get(strings.TrimPrefix(first.location(), Path)).wants(t, 200, "Another endpoint has this URL.")
}

// A form asks for a URL that becomes that of another endpoint, and not for one that
// has been that before.
func TestEditToTheSameURL(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	w.endpoint("whe_2", "member.added")
	b, same := w.signedIn("usr_ada"), w.findEndpoint("whe_1").URL
	w.Update(func(tx store.Tx) error {
		other := "https://other.example/"
		_, err := store.ChangeEndpoint(tx, "", "org_acme", "whe_2", store.EndpointChange{URL: &other})
		return err
	})
	form := url.Values{"url": {same}, "events": {"member.added"}}
	b.post("/orgs/org_acme/endpoints/whe_2/settings", form).wants(t, 409, "the endpoint whe_1 already has this URL", `<input type="checkbox" id="same-url"`)
	form.Set("same-url", "yes")
	b.post("/orgs/org_acme/endpoints/whe_2/settings", form).leads(t, "/orgs/org_acme/endpoints/whe_2/settings?done=endpoint-updated")
	form.Del("same-url")
	b.post("/orgs/org_acme/endpoints/whe_2/settings", form).leads(t, "/orgs/org_acme/endpoints/whe_2/settings?done=endpoint-updated")
}

func (w *env) endpoints() (all []store.Endpoint) {
	w.Helper()
	w.View(func(tx store.Tx) (err error) {
		all, err = tx.Endpoints("org_acme")
		return err
	})
	return all
}

func TestAddEndpointErrors(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	for name, test := range map[string]struct {
		change url.Values
		wants  []string
	}{
		"http":        {url.Values{"url": {"http://example.com"}}, []string{`href="#url"`, `id="url-error"`, "must start with https://", `value="http://example.com"`}},
		"no events":   {url.Values{"events": nil}, []string{`href="#events"`, `id="events-error"`, ">Event types must not be empty.<", `value="https://example.com/hook"`}},
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
			if strings.Contains(r.Body, "whsec_short") {
				t.Error("the secret is shown again")
			}
		})
	}
	if n := len(w.endpoints()); n != 0 {
		t.Errorf("there are %d endpoints", n)
	}
}

func TestEditEndpoint(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_alan")
	b.get("/orgs/org_acme/endpoints/whe_1/settings").wants(t, 200, `value="https://example.com/whe_1"`, `value="member.added" checked`)
	form := url.Values{"url": {"https://example.com/new"}, "description": {"moved"}, "events": {"member.removed"}}
	b.post("/orgs/org_acme/endpoints/whe_1/settings", form).leads(t, "/orgs/org_acme/endpoints/whe_1/settings?done=endpoint-updated")
	if e := w.findEndpoint("whe_1"); e.URL != "https://example.com/new" || e.Description != "moved" || !e.Selects("member.removed") || e.Selects("member.added") {
		t.Errorf("it is %+v", e)
	}
	form.Del("events")
	b.post("/orgs/org_acme/endpoints/whe_1/settings", form).wants(t, 400, `id="events-error"`)
}

// The form offers all events, and each group before its types. What a group includes is
// chosen along with it, and not kept beside it.
func TestSelectGroups(t *testing.T) {
	w := newEnv(t)
	for _, name := range []string{"member.renamed", "house.door.opened", "ping"} {
		w.registerType(name, "")
	}
	b := w.signedIn("usr_ada")
	offered := regexp.MustCompile(`name="events" value="([^"]*)"`)
	var names []string
	for _, m := range offered.FindAllStringSubmatch(b.get("/orgs/org_acme/new-endpoint").Body, -1) {
		names = append(names, m[1])
	}
	if got, want := strings.Join(names, " "), "* member.* member.added member.changed member.removed member.renamed subscription.* subscription.changed file.* file.uploaded "+
		"assistant.* assistant.instructionsChanged house.* house.door.* house.door.opened ping teamdata.* "+strings.Join(store.Signals, " "); got != want {
		t.Errorf("it offers\n%s\nnot\n%s", got, want)
	}

	form := url.Values{"nonce": {b.nonce("/orgs/org_acme/new-endpoint")}, "url": {"https://example.com/hook"}, "events": {"house.door.*", "member.added"}}
	page := strings.TrimSuffix(strings.TrimPrefix(b.post("/orgs/org_acme/new-endpoint", form).location(), Path), "/setup?added=yes")
	page, _, _ = strings.Cut(page, "?")
	b.get(page+"/settings").wants(t, 200, `title="All house.door events, including types added later"`, `title="Somebody joins the org."`, "Members<span class=\"hint\">All member events, including types added later</span>")
	b.get(page+"/settings").wants(t, 200, `value="house.door.*" checked`, `value="house.door.opened" checked`, `value="house.*">House<`, `value="member.added" checked`, `value="*">All events<span class="hint">including types added later`, "<p class=\"choice\">Others</p>")
	b.get("/orgs/org_acme/endpoints").wants(t, 200, "house.door.* and 1 more")
	for _, name := range store.BuiltInEventTypes {
		if eventtype.BuiltIn(name).Meaning == "" {
			t.Errorf("the form does not say what %s means", name)
		}
	}

	form["events"] = []string{"member.changed"}
	b.post(page+"/settings", form).leads(t, page+"/settings?done=endpoint-updated")
	b.get(page+"/settings").wants(t, 200, `value="member.changed" checked`)

	form["events"] = []string{"*", "member.added"}
	b.post(page+"/settings", form).leads(t, page+"/settings?done=endpoint-updated")
	b.get(page+"/settings").wants(t, 200, `value="*" checked`, `value="member.*" checked`, `value="ping" checked`)
	form["events"] = []string{"member.*", "member.added", "ping", "house.door.*", "house.door.opened", "webhook.test"}
	b.post(page+"/settings", form).leads(t, page+"/settings?done=endpoint-updated")
	if got, want := w.endpoints()[0].Events, []string{"member.*", "ping", "house.door.*", "webhook.test"}; !slices.Equal(got, want) {
		t.Errorf("it selects %q, not %q", got, want)
	}
	b.get(page+"/settings").wants(t, 200, `value="webhook.test" checked`)
	form["events"] = []string{"*", "member.added"}
	b.post(page+"/settings", form).leads(t, page+"/settings?done=endpoint-updated")
	b.get("/orgs/org_acme/endpoints").wants(t, 200, " · all events")
	form["events"] = []string{"member*"}
	b.post(page+"/settings", form).wants(t, 400, `id="events-error">&#34;member*&#34; has a * in the wrong place; a * stands alone, for all events, or ends a group, as member.* does.<`)
}

// registerType adds an event type of the operator's own.
func (w *env) registerType(name, description string) {
	w.Helper()
	w.Update(func(tx store.Tx) error {
		_, _, err := store.RegisterEventType(tx, store.EventType{Name: name, Description: description})
		return err
	})
}
