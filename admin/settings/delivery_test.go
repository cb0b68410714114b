package settings

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

func TestSendTest(t *testing.T) {
	w := newWorld(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	r := b.post("/orgs/org_acme/endpoints/whe_1/test", nil)
	path := strings.TrimSuffix(strings.TrimPrefix(r.location, Path), "?done=test-sent")
	r.leads(t, path+"?done=test-sent")
	b.get(path).wants(t, 200, `data-live="/settings`+path+`/live"`, "pending", "The first attempt is on its way", "Refresh", `aria-live="polite"`,
		"&#34;type&#34;: &#34;webhook.test&#34;", "{&#34;type&#34;:&#34;webhook.test&#34;", "teamdata/1.2.3", "application/json", `aria-current="page">Webhooks`)
	id := regexp.MustCompile(`whd_\w+`).FindString(path)

	w.attempt(id, 503, "the receiver answered 503 Service Unavailable", "busy", 5*time.Minute)
	live := b.get(path + "/live")
	live.wants(t, 200, "retrying", "The next attempt is due", "answered 503", "busy", "12.3 ms")
	if strings.Contains(live.body, "<html") || strings.Contains(live.body, "data-done") {
		t.Errorf("got %s", live.body)
	}
	w.attempt(id, 204, "", "")
	b.get(path+"/live").wants(t, 200, "data-done", "acknowledged: 204")
	done := b.get(path)
	done.wants(t, 200, "Send again</button>")
	if strings.Contains(done.body, "data-live") {
		t.Error("a finished delivery is watched")
	}
}

func TestDeliveryHeld(t *testing.T) {
	w := newWorld(t)
	w.endpoint("whe_1", "member.added")
	d := w.test("whe_1")
	w.update(func(tx store.Tx) error { return store.DisableEndpoint(tx, "", "org_acme", "whe_1") })
	w.signedIn("usr_ada").get("/orgs/org_acme/deliveries/"+d.ID).wants(t, 200, "held", "until its endpoint is enabled", "data-done")
}

// What a receiver or an event says is shown, and does nothing.
func TestHostileAnswers(t *testing.T) {
	w := newWorld(t)
	w.endpoint("whe_1", "member.added")
	var sent []store.Delivery
	w.update(func(tx store.Tx) (err error) {
		sent, err = store.Emit(tx, "org_acme", "member.added", []byte(`{"name":"</code></pre><script>alert(1)</script>\u202e"}`))
		return err
	})
	w.attempt(sent[0].ID, 400, "<img src=x onerror=alert(2)>", "<script>alert(3)</script>\x00\xff\x1b[31m\u202e", time.Hour)
	r := w.signedIn("usr_ada").get("/orgs/org_acme/deliveries/" + sent[0].ID)
	r.wants(t, 200, "&lt;script&gt;alert(1)", "&lt;img src=x", `&lt;script&gt;alert(3)&lt;/script&gt;\x00\xff\x1b[31m\u202e`)
	for _, bad := range []string{"<script>alert", "<img", "\x1b", "\u202e"} {
		if strings.Contains(r.body, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}

func TestManyAttempts(t *testing.T) {
	w := newWorld(t)
	w.endpoint("whe_1", "member.added")
	d := w.test("whe_1")
	schedule := make([]time.Duration, store.MaxHistory+1)
	for i := range schedule {
		schedule[i] = time.Minute
		w.attempt(d.ID, 500, "no", "", schedule[:i+1]...)
	}
	r := w.signedIn("usr_ada").get("/orgs/org_acme/deliveries/" + d.ID)
	r.wants(t, 200, "earlier ones are not kept")
	if n := strings.Count(r.body, `data-label="Outcome"`); n != store.MaxHistory {
		t.Errorf("%d attempts are shown", n)
	}
}

func TestOtherDeliveries(t *testing.T) {
	w := newWorld(t)
	w.endpoint("whe_1", "member.added")
	w.endpoint("whe_2", "member.added")
	w.endpoint("whe_3", "member.added")
	var sent []store.Delivery
	w.update(func(tx store.Tx) (err error) {
		if sent, err = store.Emit(tx, "org_acme", "member.added", []byte(`{}`)); err != nil {
			return err
		}
		return store.RemoveEndpoint(tx, "", "org_acme", "whe_3")
	})
	r := w.signedIn("usr_ada").get("/orgs/org_acme/deliveries/" + sent[0].ID)
	r.wants(t, 200, "/deliveries/"+sent[1].ID, "to https://example.com/whe_2")
	if strings.Contains(r.body, sent[2].ID) {
		t.Error("a delivery of a removed endpoint is shown")
	}
}

func TestLongBody(t *testing.T) {
	w := newWorld(t)
	w.endpoint("whe_1", "member.added")
	var sent []store.Delivery
	w.update(func(tx store.Tx) (err error) {
		sent, err = store.Emit(tx, "org_acme", "member.added", []byte(`{"text":"`+strings.Repeat("x", 2*maxBodyShown)+`"}`))
		return err
	})
	r := w.signedIn("usr_ada").get("/orgs/org_acme/deliveries/" + sent[0].ID)
	r.wants(t, 200, "Only its beginning is shown")
	if len(r.body) > 3*maxBodyShown {
		t.Errorf("the page has %d bytes", len(r.body))
	}
}

func TestReplay(t *testing.T) {
	w := newWorld(t)
	w.endpoint("whe_1", "member.added")
	d := w.test("whe_1")
	w.attempt(d.ID, 200, "", "")
	w.pass(time.Minute)
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
		if got := shownBytes([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
