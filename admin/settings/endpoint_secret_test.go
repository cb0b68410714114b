package settings

import (
	"html"
	"net/url"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

func TestShowSecret(t *testing.T) {
	w := newWorld(t)
	w.endpoint("whe_1", "member.added")
	r := w.signedIn("usr_ada").get("/orgs/org_acme/endpoints/whe_1/secret")
	r.wants(t, 200, ownSecret)
	if strings.Contains(r.body, "The old secret") || r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("got %s %.2000s", r.header.Get("Cache-Control"), r.body)
	}
}

func TestRotateSecret(t *testing.T) {
	w := newWorld(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	form := url.Values{"overlap": {"1h"}, "nonce": {b.nonce("/orgs/org_acme/endpoints/whe_1/rotate")}}
	for range 2 { // as by a double click, which must not end the secret that receivers have
		b.post("/orgs/org_acme/endpoints/whe_1/rotate", form).leads(t, "/orgs/org_acme/endpoints/whe_1/secret?done=secret-rotated")
	}
	e := w.findEndpoint("whe_1")
	if e.OldSecret != ownSecret || !e.OldSecretUntil.Equal(noon.Add(time.Hour)) {
		t.Fatalf("it is %+v", e)
	}
	r := b.get("/orgs/org_acme/endpoints/whe_1/secret")
	r.body = html.UnescapeString(r.body)
	r.wants(t, 200, e.Secret, ownSecret, `Both secrets sign until <time datetime="2026-10-06T13:00:00.000Z"`)
	b.get("/orgs/org_acme/endpoints/whe_1").wants(t, 200, "The old secret also signs until")
	w.pass(time.Hour)
	if r := b.get("/orgs/org_acme/endpoints/whe_1/secret"); strings.Contains(r.body, ownSecret) {
		t.Error("the old secret is shown after its end")
	}
}

func TestRotateByChoice(t *testing.T) {
	for value, want := range map[string]time.Duration{"0": 0, "1h": time.Hour, "24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour} {
		w := newWorld(t)
		w.endpoint("whe_1", "member.added")
		own := store.NewEndpointSecret()
		form := url.Values{"overlap": {value}, "secret": {own}}
		w.signedIn("usr_ada").post("/orgs/org_acme/endpoints/whe_1/rotate", form).wants(t, 303)
		e := w.findEndpoint("whe_1")
		if e.Secret != own || (want == 0) != e.OldSecretUntil.IsZero() || want > 0 && !e.OldSecretUntil.Equal(noon.Add(want)) {
			t.Errorf("%s: it is %+v", value, e)
		}
	}
}

func TestRotateErrors(t *testing.T) {
	w := newWorld(t)
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
