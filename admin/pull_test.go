package admin

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

const endpoints, keys = "/orgs/org_acme/endpoints", "/orgs/org_acme/keys"

// newPullEnv is an environment with the endpoint whe_pull, and a key that pulls from it.
func newPullEnv(t testing.TB) (*testEnv, *store.APIKey) {
	env := newTestEnv(t)
	env.wantAnswer(env.do("POST", endpoints, `{"id":"whe_pull","kind":"pull","events":["member.added"]}`), 201, "{{*}}")
	made := env.do("POST", keys, `{"scopes":["receive"],"endpoints":["whe_pull"],"createdBy":"usr_ada"}`)
	env.wantAnswer(made, 201, `{"id":"{{key}}",{{*}}"scopes":["receive"],"endpoints":["whe_pull"],"createdBy":"usr_ada",{{*}}}`)
	var k store.APIKey
	env.Update(func(tx store.Tx) (err error) {
		k, err = store.FindKey(tx, "org_acme", strings.Split(made.Body, `"`)[3])
		return err
	})
	return env, &k
}

// sendToPull sends a test to whe_pull, and returns its delivery's id.
func (env *testEnv) sendToPull() string {
	env.Helper()
	return strings.Split(env.do("POST", endpoints+"/whe_pull/test", "").Body, `"`)[3]
}

// pull pulls from whe_pull, and returns the lease of what it got.
func (env *testEnv) pull(k *store.APIKey, limit int) (lease string) {
	env.Helper()
	env.Update(func(tx store.Tx) error {
		got, err := store.Pull(tx, "whe_pull", store.PullRequest{Key: k, Limit: limit, Lease: store.DefaultLease})
		if len(got.Claims) > 0 {
			l := got.Claims[0].Delivery.Lease()
			lease = l.ID
		}
		return err
	})
	return lease
}

// pullRefusals are requests in the environment of newPullEnv, and what is answered.
var pullRefusals = []struct {
	name, method, path, body string
	code                     store.Code
	message                  string
}{
	{"unknown kind", "POST", endpoints, `{"kind":"poll","events":["*"]}`, store.CodeBadRequest, "kind: must be push or pull"},
	{"a kind of no text", "POST", endpoints, `{"kind":true,"events":["*"]}`, store.CodeBadRequest, "kind: is true or false; a string is expected"},
	{"a URL of one that is pulled", "POST", endpoints, `{"kind":"pull","url":"https://a.example/","events":["*"]}`, store.CodeBadRequest, "url: is not allowed on an endpoint that is pulled; leave it out, or the kind"},
	{"neither", "POST", endpoints, `{"events":["*"]}`, store.CodeBadRequest, "url: is missing or empty; give one, or the kind pull"},
	{"push without a URL", "POST", endpoints, `{"kind":"push","url":"","events":["*"]}`, store.CodeBadRequest, "url: is missing or empty; give one, or the kind pull"},
	{"no events", "POST", endpoints, `{"kind":"pull"}`, store.CodeBadRequest, "events: must not be empty"},
	{"an id that is there", "POST", endpoints, `{"kind":"pull","id":"whe_1","events":["*"]}`, store.CodeConflict, "id: an endpoint whe_1 exists already in the org"},
	{"an URL for one that is pulled", "PATCH", endpoints + "/whe_pull", `{"url":"https://a.example/"}`, store.CodeBadRequest, "url: is not allowed on an endpoint that is pulled; make another one to send events to an address"},
	{"a kind for one that is pulled", "PATCH", endpoints + "/whe_pull", `{"kind":"push"}`, store.CodeBadRequest, "kind: unknown field; the fields are ca, clientCertificate, clientKey, description, events, headers, maxInFlight, rate, url"},
	{"a kind for one that is sent to", "PATCH", endpoints + "/whe_1", `{"kind":"pull"}`, store.CodeBadRequest, "kind: unknown field; the fields are ca, clientCertificate, clientKey, description, events, headers, maxInFlight, rate, url"},
	{"no URL for one that is sent to", "PATCH", endpoints + "/whe_1", `{"url":""}`, store.CodeBadRequest, "url: must start with https://"},

	{"no such endpoint", "POST", keys, `{"scopes":["receive"],"endpoints":["whe_pull","whe_none"],"createdBy":"usr_ada"}`, store.CodeBadRequest, `endpoints: the org has no endpoint "whe_none"`},
	{"an endpoint that events are sent to", "POST", keys, `{"scopes":["receive"],"endpoints":["whe_1"],"createdBy":"usr_ada"}`, store.CodeBadRequest, `endpoints: events are sent to the endpoint "whe_1"; name endpoints of the kind pull`},
	{"an endpoint twice", "POST", keys, `{"scopes":["receive"],"endpoints":["whe_pull","whe_pull"],"createdBy":"usr_ada"}`, store.CodeBadRequest, `endpoints: "whe_pull" is given twice`},
	{"endpoints of a key that reads", "POST", keys, `{"scopes":["read"],"endpoints":["whe_pull"],"createdBy":"usr_ada"}`, store.CodeBadRequest, "endpoints: can be named only with receive as the only scope"},
	{"endpoints of a key that writes too", "POST", keys, `{"scopes":["receive","write"],"endpoints":["whe_pull"],"createdBy":"usr_ada"}`, store.CodeBadRequest, "endpoints: can be named only with receive as the only scope"},
	{"endpoints of a key without a scope", "POST", keys, `{"scopes":[],"endpoints":["whe_pull"],"createdBy":"usr_ada"}`, store.CodeBadRequest, "scopes: must name at least one of read, write and receive"},
	{"endpoints that are no list", "POST", keys, `{"scopes":["receive"],"endpoints":"whe_pull","createdBy":"usr_ada"}`, store.CodeBadRequest, "endpoints: is a string; a list is expected"},
	{"another org's endpoint", "POST", "/orgs/org_other/keys", `{"scopes":["receive"],"endpoints":["whe_pull"],"createdBy":"usr_oli"}`, store.CodeBadRequest, `endpoints: the org has no endpoint "whe_pull"`},
	{"an unknown scope", "POST", keys, `{"scopes":["pull"],"createdBy":"usr_ada"}`, store.CodeBadRequest, `scopes[0]: "pull" is not a scope; the scopes are read, write and receive`},
}

// What is wrong is said, and changes nothing.
func TestPullRefusals(t *testing.T) {
	env, _ := newPullEnv(t)
	env.Update(func(tx store.Tx) error {
		_, err := store.ImportMember(tx, store.Member{OrgID: "org_other", UserID: "usr_oli", Role: store.RoleOwner})
		return err
	})
	state := func() string {
		return env.do("GET", endpoints, "").Body + env.do("GET", keys, "").Body + env.do("GET", "/orgs/org_other/keys", "").Body + env.do("GET", "/orgs/org_acme/audit-log?limit=100", "").Body
	}
	before := state()
	for _, test := range pullRefusals {
		t.Run(test.name, func(t *testing.T) {
			env.wantError(env.do(test.method, test.path, test.body), test.code, test.message)
			equal(t, "what is there", state(), before)
		})
	}
}

// A pulled delivery shows its lease until that has an end, and then by which key.
func TestLeasedDelivery(t *testing.T) {
	env, k := newPullEnv(t)
	id, path := env.sendToPull(), ""
	path = deliveries + "/" + id
	env.wantAnswer(env.do("GET", path, ""), 200, `{{*}}"state":"pending","attempts":0,"lastAttemptAt":null,{{*}}"dueAt":`+at+`,"finishedAt":null,"body":{{*}}"history":[]}`)
	env.wantAnswer(env.do("GET", "/status", ""), 200, `{{*}}"waiting":{"endpoints":0,"dueAt":null,"pull":1,"pullAt":`+at+`,"leased":0,"mails":0}{{*}}`)

	env.Advance(time.Second)
	env.pull(k, 10)
	lease := `"lease":{"keyId":"` + k.ID + `","grantedAt":"2026-10-06T12:00:01.000Z","endsAt":"2026-10-06T12:01:01.000Z"}`
	leased := env.do("GET", path, "")
	env.wantAnswer(leased, 200, `{{*}}"state":"leased","attempts":0,"lastAttemptAt":null,"lastStatus":null,"lastReason":null,{{*}}"dueAt":null,"finishedAt":null,`+lease+`,"body":{{*}}"history":[]}`)
	if strings.Contains(leased.Body, store.PrefixLease) {
		t.Errorf("the lease's id is shown: %s", leased.Body)
	}
	env.wantAnswer(env.do("GET", "/status", ""), 200, `{{*}}"pull":0,"pullAt":null,"leased":1,{{*}}`)
	env.wantAnswer(env.do("GET", endpoints+"/whe_pull", ""), 200, `{{*}}"lastPulledAt":"2026-10-06T12:00:01.000Z","lastPulledBy":"`+k.ID+`"}`)
	env.wantAnswer(env.do("GET", endpoints, ""), 200, `{{*}}"lastPulledAt":"2026-10-06T12:00:01.000Z","lastPulledBy":"`+k.ID+`"}]{{*}}`)

	env.Advance(time.Hour) // the lease ends
	env.wantAnswer(env.do("GET", path, ""), 200, `{{*}}"state":"leased",{{*}}`)
	mine := env.pull(k, 1)
	ended := `{"startedAt":"2026-10-06T12:00:01.000Z","tookMs":60000.000,"status":null,"reason":"the lease ended without an acknowledgment","answer":"","nextAt":` + at + `,"keyId":"` + k.ID + `"}`
	env.wantAnswer(env.do("GET", path, ""), 200, `{{*}}"state":"leased","attempts":0,"lastAttemptAt":"2026-10-06T12:01:01.000Z","lastStatus":null,"lastReason":"the lease ended without an acknowledgment",{{*}}"history":[`+ended+`]}`)

	env.Advance(time.Second)
	env.Update(func(tx store.Tx) error {
		return store.NackDeliveries(tx, k, "whe_pull", []store.LeaseOf{{DeliveryID: id, Lease: mine}}, "out of stock", nil, []time.Duration{time.Minute})
	})
	given := `{"startedAt":"2026-10-06T13:00:01.000Z","tookMs":1000.000,"status":null,"reason":"out of stock","answer":"","nextAt":"2026-10-06T13:01:02.000Z","keyId":"` + k.ID + `"}`
	env.wantAnswer(env.do("GET", path, ""), 200, `{{*}}"state":"retrying","attempts":1,"lastAttemptAt":"2026-10-06T13:00:02.000Z","lastStatus":null,"lastReason":"out of stock",{{*}}"dueAt":"2026-10-06T13:01:02.000Z","finishedAt":null,"body":{{*}}"history":[`+ended+","+given+`]}`)

	env.Update(func(tx store.Tx) error { return store.AckDeliveries(tx, k, "whe_pull", []string{id}) })
	env.wantAnswer(env.do("GET", path, ""), 200, `{{*}}"state":"acknowledged",{{*}}"lastReason":null,{{*}}"dueAt":null,"finishedAt":"2026-10-06T13:00:02.000Z","body":{{*}}"keyId":"`+k.ID+`"}]}`)
}

// Leased deliveries are listed as such, by when they were pulled.
func TestLeasedDeliveriesListed(t *testing.T) {
	env, k := newPullEnv(t)
	var ids []string
	for range 3 {
		ids = append(ids, env.sendToPull())
		env.Advance(time.Second)
	}
	env.pull(k, 2)
	list := func(query string) string { return fmt.Sprint(env.walk(deliveries+query, "id", 100)) }
	for query, want := range map[string][]string{
		"?state=leased": {ids[1], ids[0]}, "?state=pending": {ids[2]}, "?state=waiting": {ids[2]}, "?state=retrying": nil, "?state=unsuccessful&endpoint=whe_pull": nil,
		"?endpoint=whe_pull": {ids[1], ids[0], ids[2]}, "?state=leased&since=2026-10-06T12:00:03Z": {ids[1], ids[0]}, "?state=leased&until=2026-10-06T12:00:03Z": nil,
	} {
		equal(t, query, list(query), fmt.Sprint(want))
	}
	env.wantAnswer(env.do("POST", endpoints+"/whe_pull/disable", ""), 200, `{{*}}"disabledAt":"2026-10-06T12:00:03.000Z",{{*}}"lastPulledAt":"2026-10-06T12:00:03.000Z",{{*}}`)
	equal(t, "leased while disabled", list("?state=leased"), fmt.Sprint([]string{ids[1], ids[0]}))
	equal(t, "held while disabled", list("?state=held"), fmt.Sprint([]string{ids[2]}))
	env.wantAnswer(env.do("GET", "/status", ""), 200, `{{*}}"pull":0,"pullAt":null,"leased":2,{{*}}`)
}

// An endpoint that is removed leaves the keys that name it; with the last one they end.
func TestRemovedPullEndpoint(t *testing.T) {
	env, k := newPullEnv(t)
	env.wantAnswer(env.do("POST", endpoints, `{"id":"whe_other","kind":"pull","events":["*"]}`), 201, "{{*}}")
	both := strings.Split(env.do("POST", keys, `{"scopes":["receive"],"endpoints":["whe_other","whe_pull"],"createdBy":"usr_ada"}`).Body, `"`)[3]
	env.wantAnswer(env.do("DELETE", endpoints+"/whe_pull", "", "Teamdata-Actor", "usr_ada"), 204, "")
	env.wantAnswer(env.do("GET", keys+"/"+k.ID, ""), 200, `{{*}}"state":"revoked","scopes":["receive"],"endpoints":["whe_pull"],{{*}}"revokedAt":`+at+`,{{*}}`)
	env.wantAnswer(env.do("GET", keys+"/"+both, ""), 200, `{{*}}"state":"active","scopes":["receive"],"endpoints":["whe_other"],{{*}}`)
	env.wantAnswer(env.do("GET", keys+"/key_1", ""), 200, key1)
}

// An endpoint that is pulled is as any other, but for its URL.
func TestPullEndpointIsAsAnyOther(t *testing.T) {
	env, _ := newPullEnv(t)
	env.wantAnswer(env.do("PATCH", endpoints+"/whe_pull", `{"url":null,"description":"A cron job","events":["*"]}`), 200, `{"id":"whe_pull","kind":"pull","description":"A cron job","events":["*"],{{*}}}`)
	env.wantAnswer(env.do("POST", endpoints+"/whe_pull/rotate", `{"overlapSeconds":60}`), 200, `{{*}}"oldSecretUntil":"2026-10-06T12:01:00.000Z","lastPulledAt":null,"lastPulledBy":null,"secret":"{{whsec}}"}`)
	env.wantAnswer(env.do("POST", endpoints+"/whe_pull/disable", ""), 200, `{{*}}"disabledAt":`+at+`,{{*}}`)
	env.wantError(env.do("POST", endpoints+"/whe_pull/test", ""), store.CodeConflict, "The webhook endpoint is disabled.")
	env.wantAnswer(env.do("POST", endpoints+"/whe_pull/enable", ""), 200, `{{*}}"disabledAt":null,{{*}}`)
	env.wantAnswer(env.do("POST", endpoints, `{"kind":"pull","events":["*"]}`), 201, `{"id":"{{whe}}","kind":"pull",{{*}}"secret":"{{whsec}}"}`) // no warning of the same URL
	sent := env.do("POST", "/orgs/org_acme/events", `{"type":"invoice.paid","data":{"amount":1}}`)
	env.wantAnswer(sent, 201, `{"deliveries":["{{whd}}","{{whd}}"]}`)
	env.wantAnswer(env.do("GET", deliveries+"?endpoint=whe_pull", ""), 200, `{"data":[{{*}}"eventType":"invoice.paid","state":"pending",{{*}}}`)
}
