package admin

import (
	"fmt"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store"
)

func (env *testEnv) members(body string, header ...string) kit.Answer {
	env.Helper()
	return env.do("POST", "/orgs/org_acme/members/batch", body, header...)
}

// repeated is a list of n records of a form, in which %d is the place.
func repeated(n int, form string) string {
	records := make([]string, n)
	for i := range records {
		records[i] = strings.ReplaceAll(form, "%d", fmt.Sprint(i))
	}
	return "[" + strings.Join(records, ",") + "]"
}

// The error about one record of a batch names its place, and nothing of the others is
// done, even under a key that keeps the refusal.
func TestBatchesAreWhole(t *testing.T) {
	env := newTestEnv(t)
	before, effects := env.everything(), env.effects("org_acme")
	const fine = `{"userId":"usr_cyn","role":"owner"},`
	for i, wrong := range []struct {
		rest string
		code store.Code
		says string
	}{
		{`{"userId":"usr_dan","role":""}]}`, store.CodeBadRequest, "members[1].role: is missing or empty"},
		{`{"userId":"usr_dan"}]}`, store.CodeBadRequest, "members[1].role: is missing or empty"},
		{`{"role":"admin"}]}`, store.CodeBadRequest, "members[1].userId: must be "},
		{`{"userId":"usr_dan","role":"admin","email":"x"}]}`, store.CodeBadRequest, "members[1].email: is not a mail address"},
		{`{"userId":"usr_dan","role":7}]}`, store.CodeBadRequest, "members[1].role: is a number"},
		{`{"userId":"usr_dan","rôle":"x"}]}`, store.CodeBadRequest, "members[1]."},
		{`{"userId":"usr_bob","role":"admin"}]}`, store.CodeConflict, "members[1].userId: the user usr_bob is a member already"},
		{`{"userId":"usr_cyn","role":"admin"}]}`, store.CodeConflict, "members[1].userId: the user usr_cyn is a member already"},
		{`{"userId":"usr_ada","role":"admin"},{"userId":"usr_cyn","role":"member"}],"upsert":true}`, store.CodeConflict, "members[2]: An org must have at least one owner."},
	} {
		body := `{"members":[` + fine + wrong.rest
		env.wantError(env.members(body), wrong.code, wrong.says)
		key := []string{"Idempotency-Key", fmt.Sprint("k", i)}
		env.wantError(env.members(body, key...), wrong.code, wrong.says)
		again := env.members(body, key...)
		env.wantError(again, wrong.code, wrong.says)
		if replayed := again.Header.Get("Idempotent-Replayed") == "true"; replayed != (wrong.code == store.CodeConflict) {
			t.Errorf("%s is replayed: %t", wrong.says, replayed)
		}
	}
	for name, list := range map[string]string{"members": "members", "events": "events", "entries": "audit-log"} {
		path := "/orgs/org_acme/" + list + "/batch"
		for _, none := range []string{`{}`, `{"` + name + `":[]}`, `{"` + name + `":null}`} {
			env.wantError(env.do("POST", path, none), store.CodeBadRequest, name+": is missing or empty; a batch has 1 to 1000 "+name)
		}
		env.wantError(env.do("POST", path, `{"`+name+`":`+repeated(1001, `{}`)+`}`), store.CodeBadRequest, name)
	}
	tooMany := `{"members":` + repeated(1001, `{"userId":"u%d","role":"r"}`) + `}`
	env.wantError(env.members(tooMany), store.CodeBadRequest, "members: has more than 1000 members; send the rest in another batch")
	equal(t, "everything", env.everything(), before)
	equal(t, "effects", fmt.Sprint(env.effects("org_acme")), fmt.Sprint(effects))
}

// A batch of upserts says what became of each member; a dry run says the same, and
// does nothing.
func TestUpsertedMembers(t *testing.T) {
	env := newTestEnv(t)
	env.do("PATCH", "/orgs/org_acme/members/usr_bob", `{"name":"Bob"}`)
	const body = `"upsert":true,"members":[{"userId":"usr_ada","role":"owner"},{"userId":"usr_bob","role":"admin","email":"bob@acme.example"},{"userId":"usr_cyn","role":"member"}]}`
	const answer = `{"members":[{"result":"unchanged","member":` + ada + `},` +
		`{"result":"changed","member":{"id":"mem_2","userId":"usr_bob","role":"admin","name":"Bob","email":"bob@acme.example",{{*}}},"was":{"role":"member","name":"Bob","email":""}},` +
		`{"result":"added","member":{"id":"{{mem}}","userId":"usr_cyn","role":"member","name":"","email":"",{{*}}}}]}`
	before, commits, sent := env.everything(), env.commits.Load(), len(env.effects("org_acme").waiting)
	for range 2 {
		env.wantAnswer(env.members(`{"dryRun":true,`+body, "Idempotency-Key", "k"), 200, answer)
	}
	equal(t, "everything after dry runs", env.everything(), before)
	equal(t, "commits of dry runs", env.commits.Load(), commits)
	env.wantAnswer(env.members(`{`+body, "Idempotency-Key", "k"), 200, answer)
	equal(t, "commits", env.commits.Load()-commits, 1)
	after := env.effects("org_acme")
	equal(t, "audit", strings.Join(after.audit[len(after.audit)-2:], " "), "member.roleChanged member.added")
	equal(t, "events", strings.Join(after.waiting[sent:], " "), "member.changed member.added")
	again := env.members(`{` + body)
	equal(t, "unchanged", strings.Count(again.Body, `"result":"unchanged"`), 3)
	equal(t, "events of the same", len(env.effects("org_acme").waiting), len(after.waiting))
	equal(t, "commits of the same", env.commits.Load()-commits, 1)
	env.wantError(env.members(`{"dryRun":true,"members":[{"userId":"usr_ada","role":"owner"}]}`), store.CodeConflict, "members[0].userId: ")
}

// An owner may be demoted in a batch before it names the next one.
func TestOwnersChangeInABatch(t *testing.T) {
	env := newTestEnv(t)
	const body = `{"upsert":true,"members":[{"userId":"usr_ada","role":"admin"},{"userId":"usr_bob","role":"owner"}]}`
	env.wantAnswer(env.members(strings.Replace(body, "{", `{"dryRun":true,`, 1)), 200, "{{*}}")
	env.wantAnswer(env.members(body), 200, `{"members":[{"result":"changed",{{*}},"was":{"role":"owner",{{*}}}},{"result":"changed",{{*}}`)
	env.wantError(env.do("PATCH", "/orgs/org_acme/members/usr_bob", `{"role":"admin"}`), store.CodeConflict, "An org must have at least one owner.")
}

// The longest values of 1,000 members fit in a batch, in the longest form that JSON
// has for them, and are answered whole.
func TestLongestBatch(t *testing.T) {
	env := newTestEnv(t)
	id := strings.Repeat("u", 59)
	form := `{"userId":"` + id + `_%d","role":"` + strings.Repeat(`\ud83d\ude80`, 64) + `","name":"` + strings.Repeat(`\ud83d\ude80`, 200) +
		`","email":"` + strings.Repeat(`\u0061`, 241) + `\u0040acme.example"}`
	body := `{"members":` + repeated(maxPlaces, form) + `}`
	if len(body) > maxBatch {
		t.Fatalf("a batch of %d bytes does not fit", len(body))
	}
	got := env.members(body, "Idempotency-Key", "k")
	equal(t, "status", got.Status, 201)
	equal(t, "added", strings.Count(got.Body, `"result":"added"`), maxPlaces)
	equal(t, "replay", env.members(body, "Idempotency-Key", "k").Body, got.Body)
}

// The events of a batch go out in its order; the data of each is held to the schema
// of its type.
func TestEventBatches(t *testing.T) {
	env := newTestEnv(t)
	env.wantAnswer(env.do("PATCH", "/orgs/org_acme/endpoints/whe_1", `{"events":["invoice.paid"]}`), 200, "{{*}}")
	batch := func(events string) kit.Answer {
		return env.do("POST", "/orgs/org_acme/events/batch", `{"events":`+events+`}`, "Idempotency-Key", fmt.Sprint(len(events)))
	}
	const fine = `{"type":"invoice.paid","data":{"amount":1}}`
	before := env.effects("org_acme")
	for events, want := range map[string]string{
		`[` + fine + `,{"type":"invoice.paid","data":{"amount":"x"}}]`:                                                  "events[1].data.amount: got string, want number",
		`[` + fine + `,{"type":"invoice.paid","data":[]}]`:                                                              "events[1].data: is missing, or not an object",
		`[` + fine + `,{"type":"invoice.paid","data":{"amount":1,"x":"` + strings.Repeat("x", maxBody) + `"}}]`:         "events[1].data: has 65555 bytes; at most 65536 are allowed",
		`[` + fine + `,{"type":"none","data":{}}]`:                                                                      `events[1].type: "none" is not an event type`,
		`[` + fine + `,{"type":"webhook.test","data":{}}]`:                                                              `events[1].type: webhook.test can't be sent as an event of your own`,
		`[` + fine + `,{"type":7}]`:                                                                                     "events[1].type: is a number",
		`[{"type":"member.added","data":{"orgId":"org_other","memberId":"m","userId":"u","role":"r"}},{"type":"none"}]`: "events[1].data: is missing",
		`[{"type":"assistant.instructionsChanged","data":{"orgId":"org_other"}},{"type":"none","data":{}}]`:             "events[0].data.orgId: must be org_acme",
	} {
		env.wantError(batch(events), store.CodeBadRequest, want)
	}
	equal(t, "effects", fmt.Sprint(env.effects("org_acme")), fmt.Sprint(before))
	for range 2 {
		got := batch(repeated(maxPlaces, `{"type":"invoice.paid","data":{"amount":%d}}`))
		equal(t, "status", got.Status, 201)
		equal(t, "answers", strings.Count(got.Body, `{"deliveries":["whd_`), maxPlaces)
	}
	var amounts []string
	env.View(func(tx store.Tx) error {
		for _, id := range env.claim() {
			d, err := tx.Delivery(id)
			if err != nil {
				return err
			}
			e, err := tx.Event(d.EventID)
			if err != nil {
				return err
			}
			_, amount, _ := strings.Cut(string(e.Body), `"amount":`)
			amounts = append(amounts, strings.TrimRight(amount, "}"))
		}
		return nil
	})
	var want []string
	for i := range len(amounts) {
		want = append(want, fmt.Sprint(i))
	}
	equal(t, "amounts", strings.Join(amounts, " "), strings.Join(want, " "))
	if len(amounts) == 0 {
		t.Error("nothing is due")
	}
}
