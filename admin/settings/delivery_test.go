package settings

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

func TestSendTest(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	r := b.post("/orgs/org_acme/endpoints/whe_1/test", nil)
	path := strings.TrimSuffix(strings.TrimPrefix(r.location(), Path), "?done=test-sent")
	r.leads(t, path+"?done=test-sent")
	b.get(path).wants(t, 200, `data-live="/settings`+path+`/live"`, "Pending", "The first attempt starts in a moment", "Refresh", `aria-live="polite"`,
		"<span class=\"k\">&#34;type&#34;</span>: <span class=\"s\">&#34;webhook.test&#34;</span>", "teamdata/1.2.3", "application/json")
	b.get(path+"?body=raw").wants(t, 200, "<code>{&#34;type&#34;:&#34;webhook.test&#34;")
	id := regexp.MustCompile(`whd_\w+`).FindString(path)

	w.attempt(id, 503, "the receiver answered 503 Service Unavailable", "busy", 5*time.Minute)
	live := b.get(path + "/live")
	live.wants(t, 200, "Retrying: attempt 2 of 6", "got 503 Service Unavailable after 12.3 ms", "answered 503", "busy", "Retry now</button>")
	if strings.Contains(live.Body, "<html") || strings.Contains(live.Body, "data-done") {
		t.Errorf("got %s", live.Body)
	}
	w.attempt(id, 204, "", "")
	b.get(path+"/live").wants(t, 200, "data-done", "Acknowledged</strong>", ": 204 after", "Retry</button>")
	done := b.get(path)
	done.wants(t, 200, "Retry</button>")
	if strings.Contains(done.Body, "data-live") {
		t.Error("a finished delivery is watched")
	}
}

// A double click without scripts sends one test; the next page sends another.
func TestSendTestOnce(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	var last string
	for range 2 {
		form := url.Values{}
		for _, f := range fieldsOf(b.get("/orgs/org_acme/endpoints/whe_1").Body) {
			form.Set(f.name, f.value)
		}
		first := b.post("/orgs/org_acme/endpoints/whe_1/test", form).location()
		second := b.post("/orgs/org_acme/endpoints/whe_1/test", form).location()
		if first != second || first == last {
			t.Errorf("a double click leads to %s and %s, after %s", first, second, last)
		}
		last = second
	}
}

func TestDeliveryHeld(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	d := w.test("whe_1")
	w.Update(func(tx store.Tx) error { return store.DisableEndpoint(tx, "", "org_acme", "whe_1") })
	w.signedIn("usr_ada").get("/orgs/org_acme/deliveries/"+d.ID).wants(t, 200, "Held", "The delivery is sent once the endpoint is enabled.", "data-live")
}

// What a receiver or an event says is shown, and does nothing.
func TestHostileAnswers(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	var sent []store.Delivery
	w.Update(func(tx store.Tx) (err error) {
		sent, err = store.Emit(tx, "org_acme", "member.added", []byte(`{"name":"</code></pre><script>alert(1)</script>\u202e"}`))
		return err
	})
	w.attempt(sent[0].ID, 400, "<img src=x onerror=alert(2)>", "<script>alert(3)</script>\x00\xff\x1b[31m\u202e", time.Hour)
	r := w.signedIn("usr_ada").get("/orgs/org_acme/deliveries/" + sent[0].ID)
	r.wants(t, 200, "&lt;script&gt;alert(1)", "&lt;img src=x", `&lt;script&gt;alert(3)&lt;/script&gt;\x00\xff\x1b[31m\u202e`)
	for _, bad := range []string{"<script>alert", "<img", "\x1b", "\u202e"} {
		if strings.Contains(r.Body, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}

func TestManyAttempts(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	d := w.test("whe_1")
	schedule := make([]time.Duration, store.MaxHistory+1)
	for i := range schedule {
		schedule[i] = time.Minute
		w.attempt(d.ID, 500, "no", "", schedule[:i+1]...)
	}
	r := w.signedIn("usr_ada").get("/orgs/org_acme/deliveries/" + d.ID)
	r.wants(t, 200, "Earlier attempts are not kept")
	if n := strings.Count(r.Body, "<dt>Outcome</dt>"); n != store.MaxHistory {
		t.Errorf("%d attempts are shown", n)
	}
}

func TestOtherDeliveries(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	w.endpoint("whe_2", "member.added")
	w.endpoint("whe_3", "member.added")
	var sent []store.Delivery
	w.Update(func(tx store.Tx) (err error) {
		if sent, err = store.Emit(tx, "org_acme", "member.added", []byte(`{}`)); err != nil {
			return err
		}
		return store.RemoveEndpoint(tx, "", "org_acme", "whe_3")
	})
	r := w.signedIn("usr_ada").get("/orgs/org_acme/deliveries/" + sent[0].ID)
	r.wants(t, 200, "/deliveries/"+sent[1].ID, ">example.com/whe_2</bdi>")
	if strings.Contains(r.Body, sent[2].ID) {
		t.Error("a delivery of a removed endpoint is shown")
	}
}

func TestLongBody(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	var sent []store.Delivery
	w.Update(func(tx store.Tx) (err error) {
		sent, err = store.Emit(tx, "org_acme", "member.added", []byte(`{"text":"`+strings.Repeat("x", 2*maxBodyShown)+`"}`))
		return err
	})
	r := w.signedIn("usr_ada").get("/orgs/org_acme/deliveries/" + sent[0].ID)
	r.wants(t, 200, "Only its beginning is shown")
	if len(r.Body) > 4*maxBodyShown { // the whole of it is in the command
		t.Errorf("the page has %d bytes", len(r.Body))
	}
}

func TestReplay(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	d := w.test("whe_1")
	w.attempt(d.ID, 200, "", "")
	w.Advance(time.Minute)
	b := w.signedIn("usr_alan")
	for range 2 {
		b.post("/orgs/org_acme/deliveries/"+d.ID+"/replay", nil).leads(t, "/orgs/org_acme/deliveries/"+d.ID+"?done=delivery-replayed")
	}
	b.get("/orgs/org_acme/deliveries/"+d.ID+"?done=delivery-replayed").wants(t, 200, "Queued for retry.", "The next attempt starts in a moment", "Pending", "acknowledged: 200")
}

func TestShownBytes(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "ä\n\tb": "ä\n\tb", "\x00\x7f": `\x00\x7f`, "a\xff\xc3": `a\xff\xc3`, "\u202e\u200b": `\u202e\u200b`, "'\"\\": `'"\`, "\r": `\r`, "\ufffd": "\ufffd", "\U000e0001": `\U000e0001`,
	} {
		if got := formatBytes([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

var deliveryLink = regexp.MustCompile(`/deliveries/(whd_[0-9A-Z]+)"`)

func TestNoDeliveries(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/endpoints/whe_1/deliveries").wants(t, 200, "No deliveries yet")
	b.get("/orgs/org_acme/endpoints/whe_1/deliveries?state=failed").wants(t, 200, "No deliveries match", "None failed.", "Clear the filter")
	b.get("/orgs/org_acme/endpoints/whe_1/deliveries?type=<b>").wants(t, 200, "No deliveries match", "None of type &lt;b&gt; was found.")
	b.get("/orgs/org_acme/endpoints/whe_1/deliveries?state=<i>").wants(t, 400, "Correct the filter", "State must be")
	for _, after := range []string{"x", "1.", "1.a/b", "x.whd_1"} {
		b.get("/orgs/org_acme/endpoints/whe_1/deliveries?after="+after).wants(t, 400, "This page of the list does not exist")
	}
}

// The bounds of a filter are times of the reader's zone, and until includes what it names;
// those of RFC 3339 are exact.
func TestDeliveryFilterInZone(t *testing.T) {
	r := &request{}
	r.HTTP = httptest.NewRequest("GET", Path, nil)
	r.HTTP.AddCookie(&http.Cookie{Name: zoneCookie, Value: "Asia/Tokyo"})
	r.Now = time.Date(2026, 11, 25, 3, 0, 0, 0, time.UTC)
	for _, c := range []struct{ time, since, until, wantSince, wantUntil string }{
		{"", "2026-11-24 14:30:11", "2026-11-24 14:30:11", "2026-11-24T05:30:11Z", "2026-11-24T05:30:12Z"},
		{"", "24 Nov 2026, 14:30:11", "2026-11-24T14:30", "2026-11-24T05:30:11Z", "2026-11-24T05:31:00Z"},
		{"", "11:59", "", "2026-11-25T02:59:00Z", ""},
		{"", "2026-11-24T05:30:11.417Z", "2026-11-24T14:30:11.418+09:00", "2026-11-24T05:30:11.417Z", "2026-11-24T05:30:11.418Z"},
		{"24h", "", "", "2026-11-24T03:00:00Z", ""},
	} {
		f, err := r.deliveryFilter(url.Values{"time": {c.time}, "since": {c.since}, "until": {c.until}})
		text := func(at time.Time) string {
			if at.IsZero() {
				return ""
			}
			return at.UTC().Format(time.RFC3339Nano)
		}
		if err != nil || text(f.Since) != c.wantSince || text(f.Until) != c.wantUntil {
			t.Errorf("%+v: %s to %s, %v", c, text(f.Since), text(f.Until), err)
		}
	}
	for _, text := range []string{"1969-12-31T23:59:59Z", "yesterday"} {
		if _, err := r.deliveryFilter(url.Values{"since": {text}}); store.CodeOf(err) != store.CodeBadRequest {
			t.Errorf("since %s: %v", text, err)
		}
	}
}

// Whatever the filter, the pages hold what a search through all deliveries finds,
// latest first.
func TestDeliveriesByModel(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added", "file.uploaded")
	w.endpoint("whe_2", "member.added")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	fillDeliveries(w, random)
	b := w.signedIn("usr_ada")
	var now time.Time
	w.View(func(tx store.Tx) error {
		now = tx.Now()
		return nil
	})
	for _, endpoint := range []string{"whe_1", ""} {
		for i := range 60 {
			asked := url.Values{}
			for _, field := range [][]string{
				{"state", "", "waiting", "failed", "acknowledged", "unsuccessful"}, {"type", "", "", "member.added", "webhook.test", "member.*", "none"},
				{"status", "", "", "500", "5xx", "2xx", "none"}, {"since", "", "", now.Add(-3 * time.Minute).Format(time.DateTime)}, {"until", "", "", now.Add(-time.Minute).Format(time.DateTime)},
			} {
				asked.Set(field[0], field[1:][random.IntN(len(field)-1)])
			}
			if i == 0 {
				asked = url.Values{}
			}
			path := "/orgs/org_acme/deliveries?"
			if endpoint != "" {
				path = "/orgs/org_acme/endpoints/" + endpoint + "/deliveries?"
			}
			ids := b.walk(path+asked.Encode(), deliveryLink)
			asked.Set("endpoint", endpoint)
			filter, err := store.ParseDeliveryFilter(asked.Get, nil)
			if want := w.filtered(filter); err != nil || !slices.Equal(ids, want) {
				t.Errorf("%v: %d deliveries, want %d, %v", asked, len(ids), len(want), err)
			}
		}
	}
}

// fillDeliveries makes some hundred deliveries of each state and several types.
func fillDeliveries(w *env, random *rand.Rand) {
	w.Helper()
	for range 120 {
		w.Advance(time.Duration(random.IntN(5000)) * time.Millisecond)
		w.Update(func(tx store.Tx) error {
			d, err := store.SendTest(tx, "org_acme", fmt.Sprintf("whe_%d", 1+random.IntN(2)))
			if err != nil {
				return err
			}
			sent, err := store.Emit(tx, "org_acme", []string{"member.added", "file.uploaded"}[random.IntN(2)], []byte(`{}`))
			for _, d := range append(sent, d) {
				a := store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now(), Status: 200}
				var schedule []time.Duration
				switch random.IntN(4) {
				case 0:
					continue
				case 1:
					a.Status, a.Reason, schedule = 500, "no", []time.Duration{time.Hour}
				case 2:
					a.Status, a.Reason = 500, "no"
				}
				if _, err := store.RecordAttempt(tx, d.ID, a, schedule); err != nil {
					return err
				}
			}
			return err
		})
		w.enableAll()
	}
}

func (w *env) enableAll() {
	w.Helper()
	for _, e := range w.endpoints() {
		w.Update(func(tx store.Tx) error { return store.EnableEndpoint(tx, "", "org_acme", e.ID) })
	}
}

// filtered are the ids of the org's deliveries that a filter selects, latest first.
func (w *env) filtered(f store.DeliveryFilter) (ids []string) {
	w.Helper()
	var found []store.Delivery
	for _, e := range w.endpoints() {
		for _, l := range store.DeliveryLists {
			w.View(func(tx store.Tx) error {
				all, _, err := tx.DeliveryPage(e.Number, l, store.Cursor{}, 10_000)
				for _, d := range all {
					if f.Matches(&d, &e) {
						found = append(found, d)
					}
				}
				return err
			})
		}
	}
	slices.SortFunc(found, func(a, b store.Delivery) int { return b.Latest().Compare(a.Latest()) })
	for _, d := range found {
		ids = append(ids, d.ID)
	}
	return ids
}

// A rare type is looked for in steps, each of them bounded, and is found.
func TestLookFurtherBack(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	var rare []store.Delivery
	w.Update(func(tx store.Tx) (err error) {
		if rare, err = store.Emit(tx, "org_acme", "member.added", []byte(`{}`)); err != nil {
			return err
		}
		_, err = store.RecordAttempt(tx, rare[0].ID, store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now(), Status: 200}, nil)
		return err
	})
	w.Advance(time.Second)
	w.Update(func(tx store.Tx) error {
		for range 2*maxSearched + 100 {
			if _, err := store.SendTest(tx, "org_acme", "whe_1"); err != nil {
				return err
			}
		}
		return nil
	})
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/endpoints/whe_1/deliveries?type=member.added").wants(t, 200, "deliveries match. There are more.", "Search further back")
	if ids := b.walk("/orgs/org_acme/endpoints/whe_1/deliveries?type=member.added", deliveryLink); len(ids) != 1 || ids[0] != rare[0].ID {
		t.Errorf("found %v", ids)
	}
}

// deliveries are the ids of an endpoint's deliveries of a state and a type.
func (w *env) deliveries(endpointID, state, kind string) []string {
	w.Helper()
	return w.filtered(store.DeliveryFilter{Endpoint: endpointID, State: state, Type: kind})
}
