package settings

import (
	"context"
	"fmt"
	"math/rand/v2"
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
	b.get(path).wants(t, 200, `data-live="/settings`+path+`/live"`, "pending", "The first attempt is on its way", "Refresh", `aria-live="polite"`,
		"&#34;type&#34;: &#34;webhook.test&#34;", "{&#34;type&#34;:&#34;webhook.test&#34;", "teamdata/1.2.3", "application/json", `aria-current="page">Webhooks`)
	id := regexp.MustCompile(`whd_\w+`).FindString(path)

	w.attempt(id, 503, "the receiver answered 503 Service Unavailable", "busy", 5*time.Minute)
	live := b.get(path + "/live")
	live.wants(t, 200, "retrying", "The next attempt is due", "answered 503", "busy", "12.3 ms")
	if strings.Contains(live.Body, "<html") || strings.Contains(live.Body, "data-done") {
		t.Errorf("got %s", live.Body)
	}
	w.attempt(id, 204, "", "")
	b.get(path+"/live").wants(t, 200, "data-done", "acknowledged: 204")
	done := b.get(path)
	done.wants(t, 200, "Send again</button>")
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
	w.signedIn("usr_ada").get("/orgs/org_acme/deliveries/"+d.ID).wants(t, 200, "held", "until its endpoint is enabled", "data-done")
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
	r.wants(t, 200, "earlier ones are not kept")
	if n := strings.Count(r.Body, `data-label="Outcome"`); n != store.MaxHistory {
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
	r.wants(t, 200, "/deliveries/"+sent[1].ID, "to https://example.com/whe_2")
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
	if len(r.Body) > 3*maxBodyShown {
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
	b.get("/orgs/org_acme/deliveries/"+d.ID+"?done=delivery-replayed").wants(t, 200, "The delivery is queued for retry.", "pending", "acknowledged: 200")
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
	b.get("/orgs/org_acme/endpoints/whe_1/deliveries?state=failed").wants(t, 200, "No deliveries match the filter", "Show all deliveries")
	b.get("/orgs/org_acme/endpoints/whe_1/deliveries?type=<b>&state=<i>").wants(t, 200, "No deliveries match the filter")
	for _, after := range []string{"x", "1.x", "1.waiting.", "1.nowhere.whd_1", "1.failed.a/b"} {
		b.get("/orgs/org_acme/endpoints/whe_1/deliveries?after="+after).wants(t, 400, "no such place in the list")
	}
}

// Whatever the filter, the pages hold what a search through all deliveries finds, in
// the order of the lists.
func TestDeliveriesByModel(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added", "file.uploaded")
	w.endpoint("whe_2", "member.added")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	fillDeliveries(w, rand.New(rand.NewPCG(seed, 0)))
	b := w.signedIn("usr_ada")
	for _, state := range []string{"", "waiting", "failed", "acknowledged"} {
		for _, kind := range []string{"", "member.added", "webhook.test", "none"} {
			ids := b.walk("/orgs/org_acme/endpoints/whe_1/deliveries?"+url.Values{"state": {state}, "type": {kind}}.Encode(), deliveryLink)
			if want := w.deliveries("whe_1", state, kind); !slices.Equal(ids, want) {
				t.Errorf("state %q, type %q: %d deliveries, want %d", state, kind, len(ids), len(want))
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

// deliveries are the ids of an endpoint's deliveries that a filter lets pass.
func (w *env) deliveries(endpointID, state, kind string) (ids []string) {
	w.Helper()
	e := w.findEndpoint(endpointID)
	for _, l := range store.DeliveryLists {
		if state != "" && state != l.String() {
			continue
		}
		w.View(func(tx store.Tx) error {
			all, _, err := tx.DeliveryPage(e.Number, l, store.Cursor{}, 10_000)
			for _, d := range all {
				if kind == "" || d.EventType == kind {
					ids = append(ids, d.ID)
				}
			}
			return err
		})
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
	b.get("/orgs/org_acme/endpoints/whe_1/deliveries?type=member.added").wants(t, 200, "There are more further back", "Search further back")
	if ids := b.walk("/orgs/org_acme/endpoints/whe_1/deliveries?type=member.added", deliveryLink); len(ids) != 1 || ids[0] != rare[0].ID {
		t.Errorf("found %v", ids)
	}
}

func TestRecover(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	early, late, never := w.test("whe_1"), w.test("whe_1"), w.test("whe_1")
	w.attempt(never.ID, 200, "", "")
	w.attempt(early.ID, 500, "no", "")
	w.Advance(2 * time.Hour)
	w.attempt(late.ID, 500, "no", "")
	w.Advance(time.Minute)
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/endpoints/whe_1/recover").wants(t, 200, "the last hour", `value="24h" checked`)
	for _, form := range []url.Values{{}, {"span": {"since"}}, {"span": {"since"}, "since": {"yesterday"}}, {"since": {"0001-01-01T00:00"}}} {
		b.post("/orgs/org_acme/endpoints/whe_1/recover", form).wants(t, 400, `id="since-error"`)
	}
	r := b.post("/orgs/org_acme/endpoints/whe_1/recover", url.Values{"span": {"1h"}})
	r.leads(t, "/orgs/org_acme/endpoints/whe_1/deliveries?done=recovered&n=1&state=waiting")
	b.get(strings.TrimPrefix(r.location(), Path)).wants(t, 200, late.ID, "Queued for retry: 1 delivery.", "queued for retry.")
	b.post("/orgs/org_acme/endpoints/whe_1/recover", url.Values{"span": {"since"}, "since": {"2026-10-06T12:00"}}).
		leads(t, "/orgs/org_acme/endpoints/whe_1/deliveries?done=recovered&n=1&state=waiting") // the other is due already
	if ids := w.deliveries("whe_1", "waiting", ""); len(ids) != 2 {
		t.Errorf("%v wait", ids)
	}
}

// A recovery that has to stop says that there is more; another error is one.
func TestRecoveredAs(t *testing.T) {
	for _, test := range []struct {
		err   error
		done  string
		fails bool
	}{
		{nil, "recovered", false},
		{fmt.Errorf("a chunk: %w", context.DeadlineExceeded), "recovered-some", false},
		{context.Canceled, "", true},
	} {
		if done, err := recoveredAs(test.err); done != test.done || (err != nil) != test.fails {
			t.Errorf("%v: %q, %v", test.err, done, err)
		}
	}
}
