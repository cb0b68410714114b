package settings

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/internal/signature"
	"teamdata/store"
)

func TestShowSecret(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	r := w.signedIn("usr_ada").get("/orgs/org_acme/endpoints/whe_1/secret")
	r.wants(t, 200, ownSecret)
	if strings.Contains(r.Body, "The old secret") || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("got %s %.2000s", r.Header.Get("Cache-Control"), r.Body)
	}
}

func TestRotateSecret(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	form := url.Values{"overlap": {"1h"}, "nonce": {b.nonce("/orgs/org_acme/endpoints/whe_1/rotate")}}
	for range 2 { // as by a double click, which must not end the secret that receivers have
		b.post("/orgs/org_acme/endpoints/whe_1/rotate", form).leads(t, "/orgs/org_acme/endpoints/whe_1/secret?done=secret-rotated")
	}
	e := w.findEndpoint("whe_1")
	if e.OldSecret != ownSecret || !e.OldSecretUntil.Equal(kit.Noon.Add(time.Hour)) {
		t.Fatalf("it is %+v", e)
	}
	r := b.get("/orgs/org_acme/endpoints/whe_1/secret")
	r.Body = html.UnescapeString(r.Body)
	r.wants(t, 200, e.Secret, ownSecret, `Both secrets sign until <time datetime="2026-10-06T13:00:00.000Z"`)
	b.get("/orgs/org_acme/endpoints/whe_1/settings").wants(t, 200, "The old secret also signs until")
	w.Advance(time.Hour)
	if r := b.get("/orgs/org_acme/endpoints/whe_1/secret"); strings.Contains(r.Body, ownSecret) {
		t.Error("the old secret is shown after its end")
	}
}

func TestRotateByChoice(t *testing.T) {
	for value, want := range map[string]time.Duration{"0": 0, "1h": time.Hour, "24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour} {
		w := newEnv(t)
		w.endpoint("whe_1", "member.added")
		own := store.NewEndpointSecret()
		form := url.Values{"overlap": {value}, "secret": {own}}
		w.signedIn("usr_ada").post("/orgs/org_acme/endpoints/whe_1/rotate", form).wants(t, 303)
		e := w.findEndpoint("whe_1")
		if e.Secret != own || (want == 0) != e.OldSecretUntil.IsZero() || want > 0 && !e.OldSecretUntil.Equal(kit.Noon.Add(want)) {
			t.Errorf("%s: it is %+v", value, e)
		}
	}
}

func TestRotateErrors(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	for _, test := range []struct {
		form  url.Values
		wants string
	}{
		{url.Values{}, `id="overlap-error"`},
		{url.Values{"overlap": {"8d"}}, `id="overlap-error"`},
		{url.Values{"overlap": {"0"}, "secret": {"mine"}}, `id="secret-error"`},
		{url.Values{"overlap": {"0"}, "secret": {ownSecret}}, "is the endpoint&#39;s secret already"},
	} {
		b.post("/orgs/org_acme/endpoints/whe_1/rotate", test.form).wants(t, 400, test.wants)
	}
	if e := w.findEndpoint("whe_1"); e.Secret != ownSecret {
		t.Error("it was rotated")
	}
}

// signed is a request as it is sent for a delivery: its headers and its body.
func (w *env) signed(d store.Delivery, secret string) (headers, body string) {
	w.Helper()
	key, err := signature.ParseSecret(secret)
	kit.Must(w, err)
	var event store.Event
	w.View(func(tx store.Tx) (err error) {
		event, err = tx.Event(d.EventID)
		return err
	})
	at := w.Now().Unix()
	sum := signature.Sign(nil, d.ID, at, event.Body, key)
	return fmt.Sprintf("content-type: application/json\r\nwebhook-id: %s\r\nwebhook-timestamp: %d\r\nwebhook-signature: %s", d.ID, at, sum), string(event.Body)
}

func TestVerify(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	d := w.test("whe_1")
	headers, body := w.signed(d, ownSecret)
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/endpoints/whe_1/verify").wants(t, 200, "Check a signature", "The secret is not shown")
	check := func(headers, body string, more url.Values) reply {
		t.Helper()
		form := url.Values{"headers": {headers}, "body": {body}}
		for name, values := range more {
			form[name] = values
		}
		r := b.post("/orgs/org_acme/endpoints/whe_1/verify", form)
		if strings.Contains(r.Body, ownSecret[6:40]) {
			t.Error("the secret is shown")
		}
		return r
	}
	check(headers, body, nil).wants(t, 200, "The request verifies", "the same that were sent", "a delivery to this endpoint", "/deliveries/"+d.ID, "webhook-id: "+d.ID)
	check(headers, base64.StdEncoding.EncodeToString([]byte(body)), url.Values{"encoded": {"yes"}}).wants(t, 200, "The request verifies")
	check(headers, body+"\r\n", nil).wants(t, 200, "The request does not verify", "line break that was not sent", fmt.Sprintf("%d bytes; %d were sent. They differ from byte %d on.", len(body)+1, len(body), len(body)+1), "No: it was made over another body.", "<code>express.raw()</code>", `href="/docs/guide/webhooks#verify-each-request">How to get the raw body`)
	check(headers, strings.Replace(body, "org_acme", "org_evil", 1), nil).wants(t, 200, "The request does not verify", "not the one that was sent")
	check(headers, "</textarea><script>", nil).wants(t, 200, "&lt;/textarea&gt;&lt;script&gt;")
	check("", "", nil).wants(t, 200, "The request does not verify", "missing")
	check(headers, "ä", url.Values{"encoded": {"yes"}}).wants(t, 400, `id="body-error"`)
	check(headers, body, url.Values{"received": {"kit.Noon"}}).wants(t, 400, `id="received-error"`)
	check(headers, body, url.Values{"received": {"2026-10-06T12:06:30"}}).wants(t, 200, "too old: 6 min 30 s")
	w.Advance(time.Hour)
	check(headers, body, nil).wants(t, 200, "too old: 1 h 0 min")
	check(headers, body, url.Values{"received": {"2026-10-06T12:00"}}).wants(t, 200, "The request verifies")
}

func TestVerifyBySecrets(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	w.Update(func(tx store.Tx) error {
		_, err := store.CreateEndpoint(tx, "", store.Endpoint{ID: "whe_2", OrgID: "org_acme", URL: "https://example.com/2", Events: []string{"member.added"}})
		return err
	})
	d := w.test("whe_1")
	other, _ := w.signed(d, w.findEndpoint("whe_2").Secret)
	old, body := w.signed(d, ownSecret)
	w.Update(func(tx store.Tx) error {
		_, err := store.RotateSecret(tx, "", "org_acme", "whe_1", "", time.Minute)
		return err
	})
	b := w.signedIn("usr_ada")
	check := func(headers string, wants ...string) {
		t.Helper()
		b.post("/orgs/org_acme/endpoints/whe_1/verify", url.Values{"headers": {headers}, "body": {body}, "received": {w.Now().Format("2006-01-02T15:04:05")}}).wants(t, 200, wants...)
	}
	check(old, "The request verifies", "the old secret, which signs until")
	check(other, "The request does not verify", "the secret of another endpoint, whe_2")
	w.Advance(2 * time.Minute)
	check(old, "The request does not verify", "the old secret, which signed until")
}

// A webhook-id of another endpoint or org says nothing of what was sent there.
func TestVerifyOthersDelivery(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_alan")
	for _, d := range w.deliveriesToOthers() {
		headers, body := w.signed(d, ownSecret)
		r := b.post("/orgs/org_acme/endpoints/whe_1/verify", url.Values{"headers": {headers}, "body": {body + "x"}})
		r.wants(t, 200, "The request does not verify", "There is no delivery to this endpoint with this webhook-id")
		if strings.Contains(r.Body, "that was sent") {
			t.Errorf("got %s", r.Body)
		}
	}
}

// A field that its choice hides does not count, and one that it shows must be filled in.
func TestFieldsThatDoNotCount(t *testing.T) {
	const own = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	form := url.Values{"url": {"https://example.com/hook"}, "events": {"member.added"}, "secret": {own}, "secretFrom": {"generated"}, "nonce": {"1"}}
	b.post("/orgs/org_acme/new-endpoint", form).wants(t, 303)
	e := w.endpoints()[0]
	if e.Secret == own {
		t.Error("the secret of a field that is hidden counts")
	}
	rotate := "/orgs/org_acme/endpoints/" + e.ID + "/rotate"
	b.post(rotate, url.Values{"overlap": {"1h"}, "secretFrom": {"own"}, "nonce": {"1"}}).wants(t, 400, "Your own secret is missing", `value="own" data-opens checked`)
	b.post(rotate, url.Values{"overlap": {"1h"}, "secret": {own}, "secretFrom": {"own"}, "nonce": {"2"}}).wants(t, 303)
	if e = w.endpoints()[0]; e.Secret != own {
		t.Error("the own secret does not count")
	}
	form.Set("secretFrom", "own")
	form.Set("secret", "")
	form.Set("same-url", "yes")
	b.post("/orgs/org_acme/new-endpoint", form).wants(t, 400, "Your own secret is missing", `value="own" data-opens checked`)

	verify := "/orgs/org_acme/endpoints/" + e.ID + "/verify"
	form = url.Values{"headers": {"webhook-id: whd_1"}, "body": {"{}"}, "received": {"tomorrow"}, "when": {"then"}}
	b.post(verify, form).wants(t, 400, "Time of receipt", `value="then" data-opens checked`)
	form.Set("when", "now")
	b.post(verify, form).wants(t, 200, "The request does not verify", `value="now" checked`)
}

// The form is filled in with a delivery as it was sent last, which verifies and counts as
// checked.
func TestVerifyADelivery(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	w.endpoint("whe_2", "member.added")
	d, unsent := w.test("whe_1"), w.test("whe_1")
	b := w.signedIn("usr_ada")
	const verify = "/orgs/org_acme/endpoints/whe_1/verify"
	if r := b.get(verify); strings.Contains(r.Body, "Try it with this delivery") {
		t.Error("it offers one that was not sent")
	}
	w.Advance(time.Hour)
	w.attempt(d.ID, 204, "", "")
	w.Advance(24 * time.Hour)
	b = w.signedIn("usr_ada")
	b.get(verify).wants(t, 200, `href="?delivery=`+d.ID+`"`, "Try it with this delivery</a>: webhook.test")
	page := b.get("/orgs/org_acme/deliveries/" + d.ID)
	page.wants(t, 200, "/verify?delivery="+d.ID)
	sent := regexp.MustCompile(`<code>(webhook-signature: [^<]+)<`).FindStringSubmatch(page.Body)[1]
	filled := b.get(verify + "?delivery=" + d.ID)
	filled.wants(t, 200, "webhook-id: "+d.ID, sent, "webhook.test")
	if sent == "" || strings.Contains(filled.Body, "Try it with this delivery") {
		t.Errorf("sent is %q in\n%s", sent, page.Body)
	}
	form := url.Values{"when": {"then"}, "received": {regexp.MustCompile(`id="received" name="received" value="([^"]+)"`).FindStringSubmatch(filled.Body)[1]}}
	for _, name := range []string{"headers", "body"} {
		form.Set(name, html.UnescapeString(regexp.MustCompile(`(?s) name="` + name + `"[^>]*>\n(.*?)</textarea>`).FindStringSubmatch(filled.Body)[1]))
	}
	b.post(verify, form).wants(t, 200)
	b.get("/orgs/org_acme/first-hour/live").wants(t, 200, "Check a signature<span class=\"unseen\">: done")
	for _, id := range []string{unsent.ID, "whd_none", w.test("whe_2").ID} {
		b.get(verify+"?delivery="+id).wants(t, 404)
	}
	w.setRole("usr_grace", store.RoleViewer)
	seen := w.signedIn("usr_grace").get("/orgs/org_acme/deliveries/" + d.ID)
	seen.wants(t, 200, "webhook-timestamp: ")
	if strings.Contains(seen.Body, "webhook-signature: ") || strings.Contains(seen.Body, "/verify") {
		t.Errorf("a viewer sees\n%s", seen.Body)
	}
}
