package admin

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

const deliveries = "/orgs/org_acme/endpoints/whe_1/deliveries"

// send makes n deliveries to whe_1, a second apart, and returns their ids.
func (env *testEnv) send(n int) (ids []string) {
	env.Helper()
	for range n {
		env.Advance(time.Second)
		got := env.do("POST", "/orgs/org_acme/endpoints/whe_1/test", "")
		ids = append(ids, strings.Split(got.Body, `"`)[3])
	}
	return ids
}

// attempt records an outcome: acknowledged, or failed with another attempt after
// the delay, or with 0 as the last one.
func (env *testEnv) attempt(id string, status int, delay time.Duration) {
	env.Helper()
	a := store.Attempt{StartedAt: env.Now(), EndedAt: env.Now(), Status: status}
	if status >= 300 {
		a.Reason = fmt.Sprint("answered ", status)
	}
	var schedule []time.Duration
	if delay > 0 {
		schedule = []time.Duration{delay}
	}
	env.Update(func(tx store.Tx) error {
		_, err := store.RecordAttempt(tx, id, a, schedule)
		return err
	})
}

// The waiting ones come first, by when they are due, then the failed and then the
// acknowledged ones, latest first; a state shows those in it alone.
func TestDeliveriesByState(t *testing.T) {
	env := newTestEnv(t)
	ids := env.send(6)
	env.attempt(ids[0], 204, 0)
	env.attempt(ids[1], 200, 0)
	env.Advance(time.Second)
	env.attempt(ids[2], 500, time.Hour)
	env.attempt(ids[3], 204, 0)
	list := func(state string) string { return fmt.Sprint(env.walk(deliveries+state, "id", 100)) }
	states := func(state string) string { return fmt.Sprint(env.walk(deliveries+state, "state", 100)) }

	equal(t, "all", list(""), fmt.Sprint([]string{ids[4], ids[5], ids[2], env.delivery, ids[3], max(ids[0], ids[1]), min(ids[0], ids[1])}))
	for state, want := range map[string][]string{
		"pending": {ids[4], ids[5]}, "retrying": {ids[2]}, "held": nil, "failed": {env.delivery},
		"acknowledged": {ids[3], max(ids[0], ids[1]), min(ids[0], ids[1])},
	} {
		equal(t, state, list("?state="+state), fmt.Sprint(want))
		for _, shown := range env.walk(deliveries+"?state="+state, "state", 100) {
			equal(t, "state", shown, state)
		}
	}

	env.wantAnswer(env.do("POST", "/orgs/org_acme/endpoints/whe_1/disable", ""), 200, "{{*}}")
	equal(t, "states", states(""), "[held held held failed acknowledged acknowledged acknowledged]")
	for state, n := range map[string]int{"pending": 0, "retrying": 0, "held": 3, "failed": 1, "acknowledged": 3} {
		equal(t, state+" while disabled", len(env.walk(deliveries+"?state="+state, "id", 100)), n)
	}
	for _, wrong := range []string{"?state=", "?state=odd", "?state=failed&state=failed", "?state=Failed"} {
		env.wantError(env.do("GET", deliveries+wrong, ""), store.CodeBadRequest, "state: ")
	}
	for _, wrong := range []string{"1.odd.whd_1", "1.failed", "1.failed.", "1.failed.a%00b", "1.whd_1"} {
		env.wantError(env.do("GET", deliveries+"?after="+wrong, ""), store.CodeBadRequest, "after: ")
	}
}

// Each delivery is on one page, whatever the size of pages.
func TestPagesOfDeliveries(t *testing.T) {
	env := newTestEnv(t)
	ids := env.send(9)
	for i, id := range ids {
		switch i % 3 {
		case 0:
			env.attempt(id, 204, 0)
		case 1:
			env.attempt(id, 500, time.Hour)
		}
	}
	for _, state := range []string{"", "?state=pending", "?state=retrying", "?state=acknowledged", "?state=failed", "?state=held"} {
		all := env.walk(deliveries+state, "id", 100)
		for limit := 1; limit <= 11; limit++ {
			equal(t, fmt.Sprintf("%q by %d", state, limit), fmt.Sprint(env.walk(deliveries+state, "id", limit)), fmt.Sprint(all))
		}
	}
}

// A page reads a bounded number of deliveries, and may be empty with more to
// come; all are found in the end.
func TestRareStates(t *testing.T) {
	env := newTestEnv(t)
	env.Update(func(tx store.Tx) error {
		for range 2*maxScanned + 10 {
			if _, err := store.SendTest(tx, "org_acme", "whe_1"); err != nil {
				return err
			}
		}
		return nil
	})
	env.Advance(time.Second)
	id := env.send(1)[0]
	env.attempt(id, 500, time.Hour)
	first := env.do("GET", deliveries+"?state=retrying", "")
	env.wantAnswer(first, 200, `{"data":[],"next":"{{*}}.waiting.{{whd}}","hasMore":true}`)
	equal(t, "found", fmt.Sprint(env.walk(deliveries+"?state=retrying", "id", 1)), fmt.Sprint([]string{id}))
	equal(t, "all", len(env.walk(deliveries, "id", 100)), 2*maxScanned+12)
	equal(t, "pending", len(env.walk(deliveries+"?state=pending", "id", 7)), 2*maxScanned+10)
}

// What was held goes out in order once the endpoint is enabled, and what happened
// meanwhile behind it.
func TestHeldThenEnabled(t *testing.T) {
	env := newTestEnv(t)
	ids := env.send(2)
	env.wantAnswer(env.do("POST", "/orgs/org_acme/endpoints/whe_1/disable", ""), 200, "{{*}}")
	env.Advance(time.Second)
	sent := env.do("POST", "/orgs/org_acme/events", `{"type":"assistant.instructionsChanged","data":{"orgId":"org_acme","x":1}}`)
	ids = append(ids, strings.Split(sent.Body, `"`)[3])
	equal(t, "claimed while disabled", fmt.Sprint(env.claim()), "[]")
	env.wantAnswer(env.do("POST", "/orgs/org_acme/endpoints/whe_1/enable", ""), 200, whe1)
	ids = append(ids, env.send(1)...)
	equal(t, "claimed", fmt.Sprint(env.claim()), fmt.Sprint(ids))
}

// claim takes what is due at whe_1, as the dispatcher does.
func (env *testEnv) claim() (ids []string) {
	env.Helper()
	var number uint64
	env.View(func(tx store.Tx) error {
		e, err := tx.Endpoint("org_acme", "whe_1")
		number = e.Number
		return err
	})
	claims, err := env.Store.Claim(env.Context(), number, env.Now(), 100)
	if err != nil {
		env.Fatal(err)
	}
	for _, c := range claims.Claims {
		ids = append(ids, c.Delivery.ID)
	}
	return ids
}

// The deliveries of an endpoint that is removed are there no more.
func TestRemovedEndpoint(t *testing.T) {
	env := newTestEnv(t)
	id := env.send(1)[0]
	env.wantAnswer(env.do("DELETE", "/orgs/org_acme/endpoints/whe_1", ""), 204, "")
	for _, path := range []string{"/deliveries/" + id, "/endpoints/whe_1", "/endpoints/whe_1/deliveries", "/endpoints/whe_1/secret"} {
		env.wantError(env.do("GET", "/orgs/org_acme"+path, ""), store.CodeNotFound, "The org has no such ")
	}
	env.wantError(env.do("POST", "/orgs/org_acme/deliveries/"+id+"/replay", ""), store.CodeNotFound, "The org has no such delivery.")
	env.wantAnswer(env.do("POST", "/orgs/org_acme/endpoints", `{"id":"whe_1","url":"https://a.example/","events":["member.added"]}`), 201, "{{*}}")
	env.wantAnswer(env.do("GET", deliveries, ""), 200, `{"data":[],"next":null,"hasMore":false}`)
	env.wantError(env.do("GET", "/orgs/org_acme/deliveries/"+id, ""), store.CodeNotFound, "The org has no such delivery.")
}

// Recovering makes due what failed since then, and counts it.
func TestRecover(t *testing.T) {
	env := newTestEnv(t)
	ids := env.send(3)
	env.attempt(ids[0], 500, time.Hour)
	env.attempt(ids[1], 204, 0)
	since := `{"since":"` + store.FormatTime(env.Now()) + `"}`
	env.Advance(time.Second)
	env.wantAnswer(env.do("POST", "/orgs/org_acme/endpoints/whe_1/recover", since), 200, `{"recovered":1}`)
	got := env.claim()
	slices.Sort(got)
	want := []string{ids[0], ids[2]}
	slices.Sort(want)
	equal(t, "due", fmt.Sprint(got), fmt.Sprint(want))
}

// A secret that was rotated out is shown while it signs.
func TestOldSecret(t *testing.T) {
	env := newTestEnv(t)
	const path = "/orgs/org_acme/endpoints/whe_1"
	env.wantAnswer(env.do("POST", path+"/rotate", `{"overlapSeconds":60}`), 200, "{{*}}")
	env.wantAnswer(env.do("GET", path+"/secret", ""), 200, `{"secret":"{{whsec}}","oldSecret":"`+whsec+`","oldSecretUntil":"2026-10-06T12:01:00.000Z"}`)
	env.Advance(time.Minute)
	env.wantAnswer(env.do("GET", path+"/secret", ""), 200, `{"secret":"{{whsec}}","oldSecret":null,"oldSecretUntil":null}`)
}
