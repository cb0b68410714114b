package settings

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

const (
	pullPath  = "/orgs/org_acme/endpoints/whe_pull"
	workerKey = "key_worker"
)

// pullEndpoint adds an endpoint to org_acme that is pulled, and a key that may.
func (w *env) pullEndpoint() (key store.APIKey) {
	w.Helper()
	w.Update(func(tx store.Tx) error {
		e := store.Endpoint{ID: "whe_pull", OrgID: "org_acme", Description: "Warehouse loader", Events: []string{"member.added"}, Secret: ownSecret}
		_, err := store.CreateEndpoint(tx, "usr_ada", e)
		if err == nil {
			key, err = store.ImportKey(tx, store.APIKey{ID: workerKey, OrgID: "org_acme", Name: "worker", Scopes: store.ScopeReceive, CreatedBy: "usr_ada"})
		}
		return err
	})
	return key
}

// pull pulls from whe_pull for a minute.
func (w *env) pull(key store.APIKey, limit int, ack ...string) (got []store.Claim) {
	w.Helper()
	w.Update(func(tx store.Tx) error {
		claims, err := store.Pull(tx, "whe_pull", store.PullRequest{Key: &key, Ack: ack, Limit: limit, Lease: time.Minute})
		got = claims.Claims
		return err
	})
	return got
}

// nack gives back what was pulled from whe_pull.
func (w *env) nack(key store.APIKey, c store.Claim, reason string, schedule ...time.Duration) {
	w.Helper()
	w.Update(func(tx store.Tx) error {
		l := []store.LeaseOf{{DeliveryID: c.Delivery.ID, Lease: c.Delivery.Lease().ID}}
		return store.NackDeliveries(tx, &key, "whe_pull", l, reason, nil, schedule)
	})
}

var tags = regexp.MustCompile(`<[^>]*>`)

// words are the texts of a page's main part, without its elements and with single spaces.
func (r reply) words() string {
	_, main, whole := strings.Cut(r.Body, "<main")
	if !whole {
		main = r.Body
	}
	return html.UnescapeString(strings.Join(strings.Fields(tags.ReplaceAllString(main, " ")), " "))
}

// says holds the words of a page to texts that it has.
func (r reply) says(t testing.TB, texts ...string) {
	t.Helper()
	r.wants(t, 200)
	for _, text := range texts {
		if !strings.Contains(r.words(), text) {
			t.Errorf("the page lacks %q: %s", text, r.words())
		}
	}
}

func (r reply) saysNot(t testing.TB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(r.words(), text) {
			t.Errorf("the page has %q: %s", text, r.words())
		}
	}
}

// The page of an endpoint that is pulled says what waits, who has it, what was given back and
// what was taken.
func TestPulledEndpoint(t *testing.T) {
	w := newEnv(t)
	key, b := w.pullEndpoint(), w.signedIn("usr_ada")
	b.get(pullPath).says(t, "Warehouse loader Pull Active Sample", "Nobody has pulled yet. Events wait here until a consumer pulls them.", "0 Waiting", "Nothing came yet")
	w.test("whe_pull")
	w.Advance(41 * time.Second)
	b.get(pullPath).says(t, "1 delivery waits for a consumer.", "Oldest waiting 41 s", "webhook.test Waiting 0 41 s")
	for range 3 {
		w.test("whe_pull")
	}
	got := w.pull(key, 3)
	w.Advance(12 * time.Second)
	page := b.get(pullPath)
	page.says(t, "Last pulled 12 s ago by the key worker .", "3 deliveries are leased. Those that are not acknowledged by 12:01:41 are handed out again.",
		"Everything is fetched within a minute.", "Waiting 1 ", "Leased 3 ", "webhook.test Leased worker 1 ends in 48 s 12 s", "Received and acknowledged", "Most at a time")
	page.wants(t, 200, `<a href="/settings/orgs/org_acme/keys/key_worker">`, `aria-label="Deliveries in the last 24 hours: 4 received, 0 acknowledged"`, `aria-label="Deliveries that were not acknowledged in the last 24 hours, at most: 4"`)
	w.nack(key, got[0], "the disk is full", time.Minute)
	w.pull(key, 1, got[1].Delivery.ID) // with the one that waits
	b.get(pullPath).says(t, "Given back 1", "Acknowledged 1", "Leased 2", "webhook.test Given back worker · the disk is full 1 again in 1 min now", "webhook.test Acknowledged worker · after 12.00 s 1 now")

	live := b.get(pullPath + "/live?range=24h")
	live.says(t, "Given back worker", "Last pulled just now")
	if strings.Contains(live.Body, `class="chart"`) || strings.Contains(live.Body, "aria-live") {
		t.Error("the live part has a chart, or is read out each time")
	}
	w.Advance(2 * time.Minute) // the leases have ended
	b.get(pullPath).says(t, "Leased 0", "webhook.test Waiting worker 1 2 min")
	w.pull(key, 10)
	b.get(pullPath).says(t, "Leased 3")
}

// An hour after the last pull the page warns of what waits, and says since when, how much and
// for how long it is kept; the lists and the overview say so too.
func TestSilentEndpoint(t *testing.T) {
	w := newEnv(t)
	key, b := w.pullEndpoint(), w.signedIn("usr_ada")
	w.pull(key, 1)
	w.Advance(3 * time.Minute)
	w.test("whe_pull")
	w.test("whe_pull")
	w.Advance(59 * time.Minute)
	b.get(pullPath).says(t, "Active", "Last pulled 1 h ago by the key worker . The oldest delivery has waited for 59 min 0 s.")
	b.get("/orgs/org_acme").saysNot(t, "Needs attention")
	w.Advance(12*time.Hour + 5*time.Minute)
	b = w.signedIn("usr_ada")
	w.Update(func(tx store.Tx) error {
		e, err := tx.Endpoint("org_acme", "whe_pull")
		if err != nil {
			return err
		}
		p, err := tx.LastPulled(e.Number)
		p.WarnedAt = tx.Now()
		if err == nil {
			err = tx.PutLastPulled(p)
		}
		return err
	})
	page := b.get(pullPath)
	page.says(t, "Not pulled", "Nobody has pulled since 6 Oct 12:00 , for 13 hours. 2 deliveries wait, the oldest since 6 Oct 12:03 . None is lost.",
		"The key worker was the last to pull, and still works. Owners and admins were mailed at 01:07 . The oldest is kept for 90 days, until 4 Jan 2027", "Last pulled 6 Oct 12:00", "Oldest waiting 13 h 4 min", "Keys that may pull")
	page.wants(t, 200, `<a class="button primary" href="/settings`+pullPath+`/setup">`)
	b.get("/orgs/org_acme/endpoints").says(t, "Not pulled 1", "Warehouse loader Pull · nobody pulls; 2 deliveries are waiting Not pulled")
	b.get("/orgs/org_acme/endpoints?state=silent").says(t, "Warehouse loader")
	b.get("/orgs/org_acme").says(t, "Needs attention", "Warehouse loader Pull Not pulled nobody pulls; 2 deliveries are waiting 13 h")
	b.get(pullPath).wants(t, 200, "needing attention: </span>1")
	w.Update(func(tx store.Tx) error { return store.RevokeKey(tx, "usr_ada", "org_acme", workerKey) })
	b.get(pullPath).says(t, "was the last to pull, and is revoked.")
}

// Nobody has to have pulled for that.
func TestNeverPulled(t *testing.T) {
	w := newEnv(t)
	w.pullEndpoint()
	w.test("whe_pull")
	w.Advance(61 * time.Minute)
	b := w.signedIn("usr_ada")
	b.get(pullPath).says(t, "Nobody has pulled yet. 1 delivery waits, the oldest since 12:00 .", "Last pulled never")
	b.get("/orgs/org_acme/endpoints").says(t, "nobody has pulled yet; 1 delivery is waiting")
}

// A delivery that is pulled says who had it, why it was given back, and until when it is
// leased; it can be handed out again.
func TestPulledDelivery(t *testing.T) {
	w := newEnv(t)
	key, b := w.pullEndpoint(), w.signedIn("usr_ada")
	d := w.test("whe_pull")
	path := "/orgs/org_acme/deliveries/" + d.ID
	page := b.get(path)
	page.says(t, "webhook. test Waiting", "Waiting to be pulled.", "Not pulled yet.", "Deliveries to Warehouse loader")
	page.saysNot(t, "Copy as curl", "Hand out")
	w.pull(key, 1)
	leased := b.get(path)
	leased.says(t, "Leased to the key worker since 12:00:00 . Unless it is acknowledged by 12:01:00 , it is handed out again.")
	leased.saysNot(t, "Hand out")
	if live := b.get(path + "/live"); strings.Contains(live.Body, "data-done") {
		t.Error("nothing more is expected of a leased delivery")
	}
	w.Advance(2 * time.Minute)
	b.get(path).says(t, "Waiting to be pulled. The key worker had it, and its lease ended.")
	got := w.pull(key, 1)
	w.nack(key, got[0], "the disk is full", time.Hour)
	b.get(path).says(t, "Given back", "Given back by the key worker : the disk is full . It is handed out again at 13:02:00", "That was 1 of 6 times.", "Hand out now",
		"Attempt 2 Back 0.0 ms worker · the disk is full", "Attempt 1 Ended 60.00 s worker · the lease ended without an acknowledgment", "Pulled by the key worker", "webhook-id: "+d.ID)
	b.post(path+"/replay", nil).leads(t, "/orgs/org_acme/deliveries/"+d.ID+"?done=delivery-replayed")
	got = w.pull(key, 1)
	w.nack(key, got[0], "still full")
	b.get(path).says(t, "Failed after it was given back 2 times. The last reason: still full", "Hand out again")
	b.get("/orgs/org_acme/endpoints/whe_pull/deliveries?state=failed").says(t, "webhook.test Failed worker · still full")
	b.post(path+"/replay", nil)
	w.pull(key, 1)
	w.Advance(time.Second)
	w.pull(key, 1, d.ID)
	b.get(path).says(t, "Acknowledged by the key worker at 12:02:01 , 1.00 s after it was pulled.", "Outcome acknowledged", "Hand out again")
}

// The lists of deliveries can be switched to those that are leased, where some may be.
func TestPulledDeliveries(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/deliveries").saysNot(t, "Leased")
	key := w.pullEndpoint()
	w.test("whe_1")
	w.test("whe_pull")
	w.pull(key, 1)
	for path, want := range map[string]string{"/endpoints/whe_pull/deliveries?type=": "Leased 1 ", "/deliveries?state=leased": "webhook.test Leased Warehouse loader worker 1 ends in 1 min", "/endpoints/whe_pull/deliveries": "Event State By Pulled Lease Changed"} {
		b.get("/orgs/org_acme"+path).says(t, want)
	}
	b.get("/orgs/org_acme/endpoints/whe_1/deliveries").saysNot(t, "Leased")
	b.get("/orgs/org_acme/deliveries").saysNot(t, "Leased 1")
	b.get("/orgs/org_acme/deliveries?state=leased").saysNot(t, "example.com/whe_1")
	b.get("/orgs/org_acme/deliveries?state=leased&type=member.added").says(t, "None of type member.added is leased.")
	b.get("/orgs/org_acme/events").says(t, "Leased")
}

// addPull adds an endpoint that is pulled by the form.
func (b *browser) addPull(form url.Values) reply {
	b.Helper()
	all := url.Values{"nonce": {"n"}, "kind": {"pull"}, "description": {"Loader"}, "events": {"*"}, "url": {"https://left.example/over"}}
	for name, values := range form {
		all[name] = values
	}
	return b.post("/orgs/org_acme/new-endpoint", all)
}

// An endpoint that is pulled is added with a key to pull with, which the answer shows once,
// in a command that runs as it is pasted.
func TestAddPullEndpoint(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/new-endpoint").says(t, "Send to a URL", "Let a consumer pull", "Create an API key that may pull from it, and send a test")
	made := b.addPull(url.Values{"key": {"yes"}})
	if made.Status != 201 {
		t.Fatalf("got %d: %s", made.Status, made.Body)
	}
	e := w.endpoints()[0]
	key := regexp.MustCompile(`key_\w+\.\w+`).FindString(made.Body)
	if !e.Pull() || e.URL != "" || key == "" {
		t.Fatalf("made %+v with the key %q", e, key)
	}
	for _, text := range []string{"TEAMDATA_KEY=" + key, w.server.URL + "/pull/" + e.ID, e.Secret, "Loader", "Waiting", `data-live="/settings/orgs/org_acme/endpoints/` + e.ID + `/setup/live?test=whd_`, "teamdata listen --pull"} {
		if body := html.UnescapeString(made.Body); !strings.Contains(body, text) {
			t.Errorf("the page lacks %q: %s", text, body)
		}
	}
	id, _, _ := strings.Cut(key, ".")
	b.get("/orgs/org_acme/keys/"+id).says(t, "Scopes receive", "Pulls from Loader")
	b.addPull(url.Values{"key": {"yes"}}).leads(t, "/orgs/org_acme/endpoints/"+e.ID+"/setup?added=yes") // sent again
	again := b.get("/orgs/org_acme/endpoints/" + e.ID + "/setup")
	again.says(t, "One key may pull from it: Loader .")
	if strings.Contains(again.Body, key) || len(w.endpoints()) != 1 {
		t.Error("the key is shown again, or the endpoint was made twice")
	}
	if got := w.audited(); !strings.Contains(got, "endpoint.secretShown") || !strings.Contains(got, "apiKey.created") {
		t.Errorf("the audit log has %s", got)
	}
}

// What is wrong with the form is said beside its fields, and nothing is made.
func TestAddPullEndpointRefused(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	for want, form := range map[string]url.Values{
		`value="pull" checked`: {"events": nil, "key": {"yes"}},
		"must be push or pull": {"kind": {"both"}},
		`href="#url"`:          {"kind": {"push"}, "url": {""}},
	} {
		b.addPull(form).wants(t, 400, want)
	}
	if len(w.endpoints()) != 0 {
		t.Error("an endpoint was made")
	}
	b.addPull(nil).wants(t, 303)
	if keys := w.keys(); len(keys) != 0 {
		t.Errorf("there are keys that nobody asked for: %v", keys)
	}
}

// The samples make a key when it is wanted.
func TestCreatePullKey(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	w.pullEndpoint()
	w.endpoint("whe_1", "member.added")
	form := url.Values{"nonce": {b.nonce(pullPath + "/setup")}}
	b.get(pullPath+"/setup").says(t, "Waiting for the first pull", "TEAMDATA_KEY=key_…")
	made := b.post(pullPath+"/setup", form)
	made.wants(t, 201, "TEAMDATA_KEY=key_", "It may pull from this endpoint and nothing else")
	b.post(pullPath+"/setup", form).leads(t, pullPath+"/setup")
	if keys := w.keys(); len(keys) != 2 || keys[0].Endpoints[0] != "whe_pull" || keys[0].Name != "Warehouse loader" {
		t.Errorf("the keys are %+v", keys)
	}
	b.post("/orgs/org_acme/endpoints/whe_1/setup", form).wants(t, 409, "can&#39;t be pulled")
	test := regexp.MustCompile(`setup/live(\?test=whd_\w+)`).FindStringSubmatch(made.Body)[1]
	key := w.keys()[0]
	b.get(pullPath+"/setup/live"+test).says(t, "Waiting", "webhook.test waits to be pulled.")
	got := w.pull(key, 1)
	b.get(pullPath+"/setup/live"+test).says(t, "webhook.test was pulled by the key Warehouse loader , which has to acknowledge it by 12:01:00")
	w.pull(key, 1, got[0].Delivery.ID)
	live := b.get(pullPath + "/setup/live" + test)
	live.says(t, "webhook.test arrived. The key Warehouse loader acknowledged it 0.0 ms after it was pulled.")
	live.wants(t, 200, "data-done")
	b.get(pullPath+"/setup").wants(t, 200, "Last acknowledged")
}

// The settings of an endpoint that is pulled have no URL, and the keys that may pull; what is
// asked before it is disabled or deleted says what that means for consumers.
func TestPullSettings(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	w.pullEndpoint()
	page := b.get(pullPath + "/settings")
	page.says(t, "Keys that may pull", "worker all endpoints never", "Rotate secret", "Disable this endpoint", "Delete this endpoint")
	page.wants(t, 200, `href="/settings/orgs/org_acme/new-key?scopes=receive&amp;endpoints=whe_pull"`)
	if strings.Contains(page.Body, `name="url"`) {
		t.Error("it has a field for a URL")
	}
	b.post(pullPath+"/settings", url.Values{"description": {"Loader 2"}, "events": {"*"}, "url": {"https://x.example"}}).leads(t, pullPath+"/settings?done=endpoint-updated")
	if e := w.findEndpoint("whe_pull"); e.Description != "Loader 2" || e.URL != "" {
		t.Errorf("got %+v", e)
	}
	b.get(pullPath+"/rotate").says(t, "Loader 2")
	b.get(pullPath+"/secret").says(t, ownSecret)
	b.get(pullPath+"/verify").says(t, "Check a signature")
	b.get(pullPath+"/disable").says(t, "All of them are handed out, oldest first.")
	b.get(pullPath+"/delete").says(t, "API keys that may pull from it alone are revoked.")
	w.test("whe_pull")
	b.post(pullPath+"/disable", nil)
	b.get(pullPath).says(t, "Disabled by Ada at 12:00 . A pull is answered 409 .", "1 delivery is held, not lost: it is handed out once the endpoint is enabled.", "Held", "Enable")
	w.Advance(3 * 24 * time.Hour)
	w.signedIn("usr_ada").get(pullPath).says(t, "dropped, the oldest on 4 Jan 2027 at 12:00", "Oldest waiting 3 days")
	w.setRole("usr_grace", store.RoleViewer)
	seen := w.signedIn("usr_grace")
	seen.get(pullPath+"/settings").says(t, "Keys that may pull", "Loader 2")
	seen.get(pullPath).saysNot(t, "Sample", "Enable")
}

// The form of keys offers the scope receive, and from where, if there is anything to pull from.
func TestReceiveKey(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/new-key").saysNot(t, "Choice of endpoints")
	w.pullEndpoint()
	b.get("/orgs/org_acme/new-key?scopes=receive&endpoints=whe_pull").wants(t, 200, `value="receive" checked`, `value="whe_pull" checked`, `value="read" aria`)
	form := url.Values{"nonce": {"n"}, "name": {"loader"}, "scopes": {"receive"}, "endpoints": {"whe_pull"}, "expiry": {"never"}}
	made := b.post("/orgs/org_acme/new-key", form)
	made.wants(t, 201, "Pulls from", ">Warehouse loader<", "-d &#39;{}&#39;", w.server.URL+"/pull/whe_pull")
	if strings.Contains(made.Body, "Make this call from here") {
		t.Error("a key that can't read is tried by reading")
	}
	b.get("/orgs/org_acme/keys").wants(t, 200, `title="receive from Warehouse loader"`)
	form["scopes"], form["nonce"] = []string{"read", "receive"}, []string{"m"}
	b.post("/orgs/org_acme/new-key", form).wants(t, 400, `href="#endpoints"`, "only with receive as the only scope", `value="whe_pull" checked`)
	form.Del("endpoints")
	b.post("/orgs/org_acme/new-key", form).wants(t, 201, "All endpoints that are pulled", "/api/v1/members")
}

// The first hour of an org whose endpoint is pulled has the steps of a consumer.
func TestFirstHourOfAPullEndpoint(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	w.Update(func(tx store.Tx) error {
		_, err := store.CreateEndpoint(tx, "usr_ada", store.Endpoint{ID: "whe_pull", OrgID: "org_acme", Description: "Loader", Events: []string{"*"}})
		return err
	})
	done := func(n int, texts ...string) {
		t.Helper()
		b.get(overviewPath).says(t, append(texts, fmt.Sprintf("%d of 4 done", n), "Four steps", "when all four are done")...)
	}
	done(1, "Add an endpoint : done Loader", "Create its API key", "Waiting for your pull", "Waiting for your consumer")
	b.post(pullPath+"/setup", url.Values{"nonce": {"n"}}).wants(t, 201)
	done(2, "Create its API key : done Loader")
	key := w.keys()[0]
	got := w.pull(key, 1)
	done(3, "Pull an event : done Loader · 12:00:00")
	w.Advance(time.Second)
	w.pull(key, 1, got[0].Delivery.ID)
	b.get("/orgs/org_acme/first-hour/live").says(t, "4 of 4 done", "Acknowledge it : done after 1.00 s")
	b.get(overviewPath).saysNot(t, "First hour")
}

// The audit log calls an endpoint that is pulled by its name, and finds it by that.
func TestAuditOfAPullEndpoint(t *testing.T) {
	w := newEnv(t)
	w.pullEndpoint()
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/audit-log").says(t, "Ada added the endpoint Warehouse loader")
	b.get("/orgs/org_acme/audit-log?target=warehouse").says(t, "added the endpoint Warehouse loader")
	b.get("/orgs/org_acme/event-types/member.added").says(t, "Warehouse loader Selects it")
	b.post("/orgs/org_acme/endpoints/whe_pull/delete", url.Values{"nonce": {"n"}})
	b.get("/orgs/org_acme/audit-log").says(t, "deleted the endpoint whe_pull")
}
