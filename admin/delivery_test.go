package admin

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

const deliveries = "/orgs/org_acme/deliveries"

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

// Newest first by the last attempt, or when it was queued; each filter shows those that
// it selects, and filters combine.
func TestDeliveriesFiltered(t *testing.T) {
	env := newTestEnv(t)
	env.wantAnswer(env.do("POST", "/orgs/org_acme/endpoints", `{"id":"whe_2","url":"https://acme.example/2","events":["invoice.*"]}`), 201, "{{*}}")
	ids := env.send(4) // a second apart, from 12:00:01 on
	env.Advance(time.Second)
	sent := env.do("POST", "/orgs/org_acme/events", `{"type":"invoice.paid","data":{"amount":1}}`)
	invoice := strings.Split(sent.Body, `"`)[3]
	env.Advance(time.Second)
	env.attempt(ids[1], 204, 0)
	env.Advance(time.Second)
	env.attempt(ids[0], 503, time.Hour)
	env.attempt(invoice, 0, 0)
	list := func(query string) string { return fmt.Sprint(env.walk(deliveries+query, "id", 100)) }
	all := []string{max(ids[0], invoice), min(ids[0], invoice), ids[1], ids[3], ids[2], env.delivery}
	equal(t, "all", list(""), fmt.Sprint(all))

	detail := env.do("GET", deliveries+"/"+ids[0], "")
	event := regexp.MustCompile(`"eventId":"(evt_\w+)"`).FindStringSubmatch(detail.Body)[1]
	env.wantAnswer(detail, 200, `{{*}}"state":"retrying","attempts":1,"lastAttemptAt":"2026-10-06T12:00:07.000Z","lastStatus":503,"lastReason":"answered 503",{{*}}`)
	for query, want := range map[string][]string{
		"?state=pending": {ids[3], ids[2]}, "?state=retrying": {ids[0]}, "?state=waiting": {ids[0], ids[3], ids[2]}, "?state=held": nil,
		"?state=failed": {invoice, env.delivery}, "?state=acknowledged": {ids[1]}, "?state=unsuccessful": {all[0], all[1], env.delivery},
		"?endpoint=whe_2": {invoice}, "?type=invoice.*": {invoice}, "?type=webhook.test&state=failed": {env.delivery},
		"?status=5xx": {ids[0], env.delivery}, "?status=503": {ids[0]}, "?status=none": {invoice}, "?status=2xx&endpoint=whe_1": {ids[1]},
		"?since=2026-10-06T12:00:06Z": {all[0], all[1], ids[1]}, "?until=2026-10-06T12:00:03Z": {env.delivery},
		"?since=2026-10-06T12:00:03Z&until=2026-10-06T12:00:07Z": {ids[1], ids[3], ids[2]},
		"?q=" + ids[2]: {ids[2]}, "?q=" + event: {ids[0]}, "?q=whd_none": nil, "?odd=1": all,
	} {
		equal(t, query, list(query), fmt.Sprint(want))
	}

	env.wantAnswer(env.do("POST", "/orgs/org_acme/endpoints/whe_1/disable", ""), 200, "{{*}}")
	equal(t, "held while disabled", list("?state=held"), fmt.Sprint([]string{ids[0], ids[3], ids[2]}))
	env.wantError(env.do("GET", deliveries+"?endpoint=whe_none", ""), store.CodeNotFound, "The org has no such webhook endpoint.")
	for wrong, message := range map[string]string{
		"?state=": "state: is empty; leave it out for all", "?state=odd": "state: must be waiting, ", "?state=failed&state=failed": "state: is given more than once", "?state=Failed": "state: ",
		"?status=5x": "status: must be a status of 100 to 599", "?status=600x": "status: ", "?status=600": "status: ", "?status=6xx": "status: ", "?since=yesterday": "since: must be a date and time", "?since=2026-10-06T12:00:00%2B24:00": "since: must be a date and time", "?until=1969-12-31T23:59:59Z": "until: ",
		"?since=2026-10-06T12:00:00Z&until=2026-10-06T11:00:00Z": "until: must not be before since", "?q=ada": "q: must be a webhook-id", "?endpoint=a%00b": "endpoint: ",
		"?after=1.odd.whd_1": "after: must be the next of an earlier page of deliveries", "?after=1.a%00b": "after: ", "?after=1": "after: ",
	} {
		env.wantError(env.do("GET", deliveries+wrong, ""), store.CodeBadRequest, message)
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
	for _, query := range []string{"", "?state=pending", "?state=retrying", "?state=acknowledged", "?state=failed", "?state=held", "?status=5xx"} {
		all := env.walk(deliveries+query, "id", 100)
		for limit := 1; limit <= 11; limit++ {
			equal(t, fmt.Sprintf("%q by %d", query, limit), fmt.Sprint(env.walk(deliveries+query, "id", limit)), fmt.Sprint(all))
		}
	}
}

// A page reads a bounded number of deliveries, and may be empty with more to
// come; all are found in the end.
func TestRareDeliveries(t *testing.T) {
	env := newTestEnv(t)
	var id string
	env.Update(func(tx store.Tx) error {
		d, err := store.SendExample(tx, "org_acme", "whe_1", store.EventMemberAdded, []byte("{}"))
		id = d.ID
		return err
	})
	env.Advance(time.Second)
	env.Update(func(tx store.Tx) error {
		for range 2*maxScanned + 10 {
			if _, err := store.SendTest(tx, "org_acme", "whe_1"); err != nil {
				return err
			}
		}
		return nil
	})
	first := env.do("GET", deliveries+"?type=member.added", "")
	env.wantAnswer(first, 200, `{"data":[],"next":"{{*}}.{{whd}}","hasMore":true}`)
	equal(t, "found", fmt.Sprint(env.walk(deliveries+"?type=member.added", "id", 1)), fmt.Sprint([]string{id}))
	equal(t, "all", len(env.walk(deliveries, "id", 100)), 2*maxScanned+12)
	equal(t, "tests", len(env.walk(deliveries+"?type=webhook.test", "id", 7)), 2*maxScanned+11)
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
	for _, path := range []string{"/deliveries/" + id, "/endpoints/whe_1", "/deliveries?endpoint=whe_1", "/endpoints/whe_1/secret"} {
		env.wantError(env.do("GET", "/orgs/org_acme"+path, ""), store.CodeNotFound, "The org has no such ")
	}
	env.wantError(env.do("POST", "/orgs/org_acme/deliveries/"+id+"/replay", ""), store.CodeNotFound, "The org has no such delivery.")
	env.wantAnswer(env.do("POST", "/orgs/org_acme/endpoints", `{"id":"whe_1","url":"https://a.example/","events":["member.added"]}`), 201, "{{*}}")
	env.wantAnswer(env.do("GET", deliveries, ""), 200, `{"data":[],"next":null,"hasMore":false}`)
	env.wantError(env.do("GET", "/orgs/org_acme/deliveries/"+id, ""), store.CodeNotFound, "The org has no such delivery.")
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
