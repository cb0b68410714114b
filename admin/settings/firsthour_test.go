package settings

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

// Each step of the first hour is ticked by what happened, and by nothing before it; the
// list goes away with the last.
func TestFirstHour(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	done := 0
	ticks := func(texts ...string) {
		t.Helper()
		texts = append(texts, fmt.Sprintf("%d of 5 done", done))
		b.get(overviewPath).wants(t, 200, append(texts, "Welcome, ", `data-live="/settings/orgs/org_acme/first-hour/live"`)...)
		live := b.get("/orgs/org_acme/first-hour/live")
		live.wants(t, 200, append(texts, `<div data-part="steps">`)...)
		if strings.Contains(live.Body, "<html") || strings.Contains(live.Body, "data-done") != (done == 5) {
			t.Errorf("got %s", live.Body)
		}
		if got := strings.Count(live.Body, ": done</span>"); got != done {
			t.Errorf("%d steps are ticked, not %d", got, done)
		}
		done++
	}
	ticks("Add an endpoint first.", "1 minute")
	w.endpoint("whe_1", "member.added")
	ticks("example.com/whe_1", "Waiting for your test", "/settings/orgs/org_acme/endpoints/whe_1/setup")
	d := w.test("whe_1")
	done--
	ticks("Waiting for your test") // it is queued, and did not arrive
	w.attempt(d.ID, 204, "", "")
	ticks("204 No Content after 12.3 ms", "Waiting for your check", "/settings/orgs/org_acme/endpoints/whe_1/verify")

	check := func(change string) {
		t.Helper()
		headers, body := w.signed(d, ownSecret)
		b.post("/orgs/org_acme/endpoints/whe_1/verify", url.Values{"headers": {headers}, "body": {body + change}}).wants(t, 200, "The request")
	}
	done--
	check("x")
	ticks("Waiting for your check") // what does not verify is no success
	check("")
	ticks("Create key")
	b.newKey(readKey("nightly export"))
	ticks("nightly export", "with the key in TEAMDATA_KEY", `-H &#34;Authorization: Bearer $TEAMDATA_KEY&#34;`)
	var used store.APIKey
	w.Update(func(tx store.Tx) error {
		keys, err := tx.APIKeys("org_acme", "", 1)
		if err != nil {
			return err
		}
		used = keys[0]
		return store.AddKeyUse(tx, used.ID, store.KeyUse{LastUsedAt: tx.Now().Truncate(time.Minute)})
	})
	b.get("/orgs/org_acme/first-hour/live").wants(t, 200, "5 of 5 done", "data-done")
	r := b.get(overviewPath)
	r.wants(t, 200, "<h1>Overview</h1>")
	if strings.Contains(r.Body, "First hour") {
		t.Error("the list stays")
	}
}

// A viewer sees no steps: they are for who manages the org.
func TestFirstHourOfAViewer(t *testing.T) {
	w := newEnv(t)
	w.setRole("usr_grace", store.RoleViewer)
	r := w.signedIn("usr_grace").get(overviewPath)
	r.wants(t, 200, "<h1>Overview</h1>")
	if strings.Contains(r.Body, "First hour") {
		t.Error("a viewer sees the steps")
	}
}

// An org that sends much keeps its numbers, above the steps that it has left.
func TestFirstHourOfABusyOrg(t *testing.T) {
	w := newEnv(t)
	w.count(w.addEndpoint(store.Endpoint{ID: "whe_1"}), time.Hour, store.DeliveryCounts{Acknowledged: 10})
	r := w.signedIn("usr_ada").get(overviewPath)
	r.wants(t, 200, "<h1>Overview</h1>", "<dt>Success</dt><dd>100%</dd>", "1 of 5 done")
	if strings.Index(r.Body, "First hour") > strings.Index(r.Body, `id="failures"`) {
		t.Error("while nothing was acknowledged, the steps are not on top")
	}
}

// Once something was acknowledged, the steps are below the charts. They go away with the
// twentieth.
func TestFirstHourAfterDeliveries(t *testing.T) {
	w := newEnv(t)
	w.count(w.endpoint("whe_1", "member.added"), time.Hour, store.DeliveryCounts{Acknowledged: 10})
	b := w.signedIn("usr_ada")
	for n := range 20 {
		d := w.test("whe_1")
		w.attempt(d.ID, 204, "", "")
		w.Advance(time.Second)
		r := b.get(overviewPath)
		if below, there := strings.Index(r.Body, "First hour"), n < 19; (below > 0) != there || there && below < strings.Index(r.Body, `id="changes"`) {
			t.Fatalf("after %d the steps are at %d of\n%s", n+1, below, r.Body)
		}
	}
}

// The steps go away 7 days after a person could first see them.
func TestFirstHourIsOver(t *testing.T) {
	w := newEnv(t)
	w.Advance(6 * 24 * time.Hour)
	w.withPassword("usr_alan")
	shows := func(want bool) {
		t.Helper()
		b := w.newBrowser()
		b.signIn("usr_alan", goodPassword).wants(t, 303)
		if r := b.get(overviewPath); strings.Contains(r.Body, "First hour") != want {
			t.Errorf("shown should be %v:\n%s", want, r.Body)
		}
	}
	shows(true)
	w.Advance(7*24*time.Hour - time.Minute)
	shows(true)
	w.Advance(time.Minute)
	shows(false)
}
