package admin

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

const replays = "/orgs/org_acme/replays"

// replay creates a replay and returns its id.
func (env *testEnv) replay(body string) string {
	env.Helper()
	got := env.do("POST", replays, body)
	env.wantAnswer(got, 201, `{"id":"{{rpl}}","state":"running",{{*}}}`)
	return strings.Split(got.Body, `"`)[3]
}

// A replay is counted without being done, then done by whoever does that, and says how
// far it is.
func TestReplay(t *testing.T) {
	env := newTestEnv(t)
	env.wantAnswer(env.do("POST", replays+"/rpl_1/cancel", ""), 200, "{{*}}")
	woken := 0
	env.admin.config.Replaying = func() { woken++ }
	ids := env.send(4)
	env.attempt(ids[0], 503, 0)
	env.attempt(ids[1], 500, time.Hour)
	env.attempt(ids[2], 204, 0)
	env.Advance(time.Second)

	count := func(body, want string) {
		t.Helper()
		commits := env.commits.Load()
		env.wantAnswer(env.do("POST", replays, body, "Idempotency-Key", "count"), 200, want)
		equal(t, "commits of a count", env.commits.Load()-commits, 0)
	}
	count(`{"filter":{"state":"unsuccessful"},"dryRun":true}`, `{"total":3,"more":false,"endpoints":[{"endpointId":"whe_1","total":3}]}`)
	count(`{"filter":{"state":"failed","since":"2026-10-06T12:00:00Z"},"dryRun":true}`, `{"total":1,"more":false,"endpoints":[{"endpointId":"whe_1","total":1}]}`)
	count(`{"filter":{"status":"5xx","type":"webhook.*"},"dryRun":true}`, `{"total":3,"more":false,"endpoints":[{"endpointId":"whe_1","total":3}]}`)
	count(`{"filter":{"state":"pending"},"dryRun":true}`, `{"total":0,"more":false,"endpoints":[]}`)
	count(`{"deliveryIds":["`+ids[2]+`","whd_none"],"dryRun":true}`, `{"total":1,"more":false,"endpoints":[{"endpointId":"whe_1","total":1}]}`)
	equal(t, "woken by counts", woken, 0)

	const body = `{"filter":{"since":"2026-10-06T12:00:00Z","endpoint":"whe_1"}}`
	first := env.do("POST", replays, body, "Idempotency-Key", "once", "Teamdata-Actor", "usr_ada")
	env.wantAnswer(first, 201, `{"id":"{{rpl}}","state":"running","done":0,"total":2,"more":false,"filter":{"endpoint":"whe_1","state":"unsuccessful","type":null,"status":null,"since":"2026-10-06T12:00:00.000Z","until":null,"q":null},"actorId":"usr_ada",{{*}}}`)
	equal(t, "woken", woken, 1)
	again := env.do("POST", replays, body, "Idempotency-Key", "once", "Teamdata-Actor", "usr_ada")
	equal(t, "again", again.Header.Get("Idempotent-Replayed")+again.Body, "true"+first.Body)
	named := env.replay(`{"deliveryIds":["` + ids[2] + `"]}`)
	cancelled := env.replay(`{"filter":{"state":"failed"}}`)
	env.wantAnswer(env.do("POST", replays+"/"+cancelled+"/cancel", ""), 200, `{"id":"`+cancelled+`","state":"cancelled","done":0,{{*}},"finishedAt":"2026-10-06T12:00:05.000Z"}`)

	if err := store.RunReplays(t.Context(), env.Store); err != nil {
		t.Fatal(err)
	}
	id := strings.Split(first.Body, `"`)[3]
	env.wantAnswer(env.do("GET", replays+"/"+id, ""), 200, `{"id":"`+id+`","state":"done","done":2,"total":2,{{*}},"finishedAt":"2026-10-06T12:00:05.000Z"}`)
	env.wantAnswer(env.do("GET", replays+"/"+named, ""), 200, `{{*}}"state":"done","done":1,"total":1,"more":false,"filter":null,{{*}}`)
	env.wantAnswer(env.do("POST", replays+"/"+id+"/cancel", ""), 200, `{{*}}"state":"done","done":2,{{*}}`)
	equal(t, "failed still", fmt.Sprint(env.walk(deliveries+"?state=failed", "id", 100)), fmt.Sprint([]string{env.delivery}))
	equal(t, "latest first", fmt.Sprint(env.walk(replays, "id", 100)), fmt.Sprint([]string{"rpl_1", cancelled, named, id}))
	for limit := 1; limit <= 5; limit++ {
		equal(t, fmt.Sprint("by ", limit), fmt.Sprint(env.walk(replays, "id", limit)), fmt.Sprint([]string{"rpl_1", cancelled, named, id}))
	}
}

// What can't be replayed is refused by name, and nothing is meant by leaving all out.
func TestReplayRefused(t *testing.T) {
	env := newTestEnv(t)
	many := `"whd_1"` + strings.Repeat(`,"whd_1"`, store.MaxReplayed)
	for body, message := range map[string]string{
		`{}`: "filter: is missing; give a field of it, or deliveryIds", `{"filter":{}}`: "filter: is missing", `{"filter":null}`: "filter: is missing",
		`{"filter":{"state":""},"deliveryIds":[]}`: "filter: is missing", `{"dryRun":true}`: "filter: is missing",
		`{"filter":{"state":"odd"}}`: "filter.state: must be waiting, ", `{"filter":{"sate":"failed"}}`: `filter.sate: unknown field; did you mean "state"?`,
		`{"filter":{"since":"1h"}}`: "filter.since: must be a date and time", `{"filter":{"q":"ada"}}`: "filter.q: ",
		`{"filter":{"status":500}}`: "filter.status: ", `{"deliveryIds":["whd_1","whe_1"]}`: "deliveryIds[1]: must be the id of a delivery",
		`{"deliveryIds":["whd_1"],"filter":{"state":"failed"}}`: "deliveryIds: can't be combined with a filter",
		`{"deliveryIds":[` + many + `]}`:                        "deliveryIds: must have 1 to 1000 ids",
	} {
		env.wantError(env.do("POST", replays, body), store.CodeBadRequest, message)
	}
	env.wantError(env.do("POST", replays, `{"filter":{"endpoint":"whe_none"}}`), store.CodeNotFound, "The org has no such webhook endpoint.")
	env.wantError(env.do("POST", replays, `{"filter":{"endpoint":"whe_none"},"dryRun":true}`), store.CodeNotFound, "The org has no such webhook endpoint.")
	env.wantError(env.do("POST", "/orgs/org_none/replays", `{"filter":{"state":"failed"}}`), store.CodeNotFound, "There is no such org.")
	env.wantError(env.do("GET", "/orgs/org_other/replays/rpl_1", ""), store.CodeNotFound, "The org has no such replay.")
	env.wantAnswer(env.do("GET", "/orgs/org_other/replays", ""), 200, `{"data":[],"next":null,"hasMore":false}`)
	for range 9 { // one is running already
		env.replay(`{"filter":{"state":"failed"}}`)
	}
	env.wantError(env.do("POST", replays, `{"filter":{"state":"failed"}}`), store.CodeConflict, "The org has 10 replays running.")
}
