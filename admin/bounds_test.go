package admin

import (
	"fmt"
	"strings"
	"testing"

	"teamdata/store"
)

// long is a text of so many characters, each of two bytes.
func long(characters int) string { return strings.Repeat("é", characters) }

// bound is a request that passes, and why its neighbour on the other side of a
// bound does not.
type bound struct {
	method, path string
	passes       string // body
	fails        string // body
	message      string
}

var bounds = []bound{
	{"POST", "/orgs", `{"name":"` + long(200) + `"}`, `{"name":"` + long(201) + `"}`, "name: has 201 characters"},
	{"POST", "/orgs", `{"name":"N","id":"` + strings.Repeat("o", 64) + `"}`, `{"name":"N","id":"` + strings.Repeat("o", 65) + `"}`, "id: "},
	{"POST", "/orgs", `{"name":"N","subscription":{"plan":"pro"}}`, `{"name":"N","subscription":{"plan":"none"}}`, "subscription.plan: there is no plan"},
	{"POST", "/orgs", `{"name":"N","id":"","subscription":null}`, `{"name":""}`, "name: is missing or empty"},
	{"PATCH", "/orgs/org_acme", `{"name":"` + long(200) + `"}`, `{"name":"` + long(201) + `"}`, "name: has 201 characters"},
	{"PATCH", "/orgs/org_acme", `{"name":"Acme"}`, `{}`, "name: is missing or empty"},
	{"PUT", "/orgs/org_acme/subscription", `{"plan":"pro"}`, `{"plan":"none"}`, "plan: there is no plan"},
	{"PUT", "/orgs/org_acme/subscription", `{"status":"` + long(64) + `"}`, `{"status":"` + long(65) + `"}`, "status: has 65 characters"},
	{"PUT", "/orgs/org_acme/subscription", `{}`, `{"id":"a b"}`, "id: "},
	{"POST", "/orgs/org_acme/members", `{"userId":"u","role":"` + long(64) + `"}`, `{"userId":"v","role":"` + long(65) + `"}`, "role: "},
	{"POST", "/orgs/org_acme/members", `{"userId":"u","role":"r","email":"` + long(120) + `@acme.example"}`, `{"userId":"v","role":"r","email":"` + long(121) + `@acme.example"}`, "email: "},
	{"PATCH", "/orgs/org_acme/members/usr_bob", `{"name":"` + long(200) + `"}`, `{"name":"` + long(201) + `"}`, "name: "},
	{"PATCH", "/orgs/org_acme/members/usr_bob", `{"name":null,"email":null}`, `{"role":""}`, "role: is missing or empty"},
	{"POST", "/orgs/org_acme/audit-log", `{"action":"` + long(200) + `"}`, `{"action":"` + long(201) + `"}`, "action: "},
	{"POST", "/orgs/org_acme/audit-log", `{"action":"a","targetId":"` + long(200) + `"}`, `{"action":"a","targetId":"` + long(201) + `"}`, "targetId: "},
	{"POST", "/orgs/org_acme/audit-log/batch", `{"entries":[` + entries(1000) + `]}`, `{"entries":[` + entries(1001) + `]}`, "entries: has more than 1000"},
	{"POST", "/orgs/org_acme/audit-log/batch", `{"entries":[` + entries(1) + `]}`, `{"entries":[]}`, "entries: is missing or empty"},
	{"POST", "/orgs/org_acme/audit-log/batch", `{"entries":[` + entries(1) + `]}`, `{}`, "entries: is missing or empty"},
	{"POST", "/orgs/org_acme/audit-log/batch", `{"entries":[{"action":"a","actorId":""}]}`, `{"entries":[{"action":"a"},{"action":""}]}`, "entries[1].action: is missing or empty"},
	{"POST", "/orgs/org_acme/audit-log/batch", `{"entries":[{"action":"a"}]}`, `{"entries":[{"action":"a"},{"actoin":""}]}`, `entries[1].actoin: unknown field; did you mean "action"?`},
	{"PUT", "/orgs/org_acme/instructions", `{"instructions":"` + long(64<<10) + `"}`, `{"instructions":"` + long(64<<10+1) + `"}`, "instructions: "},
	{"PUT", "/orgs/org_acme/instructions", `{"instructions":null}`, `{}`, "instructions: is missing"},
	{"POST", "/orgs/org_acme/keys", `{"scopes":["read"],"createdBy":"usr_ada","expiresAt":"2026-10-06T12:00:00.001Z"}`, `{"scopes":["read"],"createdBy":"usr_ada","expiresAt":"2026-10-06T12:00:00Z"}`, "expiresAt: is in the past"},
	{"POST", "/orgs/org_acme/keys", `{"scopes":["read"],"createdBy":"usr_ada"}`, `{"scopes":["read"],"createdBy":"usr_bob"}`, "createdBy: "},
	{"POST", "/orgs/org_acme/keys", `{"scopes":["read"],"createdBy":"usr_ada"}`, `{"scopes":["fly"],"createdBy":"usr_ada"}`, "scopes[0]: "},
	{"POST", "/orgs/org_acme/keys", `{"scopes":["read"],"createdBy":"usr_ada"}`, `{"createdBy":"usr_ada"}`, "scopes: "},
	{"POST", "/orgs/org_acme/endpoints", hook(`"url":"https://a.example/","secret":"` + whsec + `"`), hook(`"url":"http://a.example/"`), "url: must start with https://"},
	{"POST", "/orgs/org_acme/endpoints", hook(`"url":"https://a.example/` + strings.Repeat("a", 2030) + `"`), hook(`"url":"https://a.example/` + strings.Repeat("a", 2031) + `"`), "url: has 2049 characters"},
	{"POST", "/orgs/org_acme/endpoints", hook(`"url":"https://a.example/","description":"` + long(500) + `"`), hook(`"url":"https://a.example/","description":"` + long(501) + `"`), "description: "},
	{"POST", "/orgs/org_acme/endpoints", hook(`"url":"https://a.example/"`), hook(`"url":"https://a.example/","secret":"whsec_YQ=="`), "secret: holds 1 bytes"},
	{"PATCH", "/orgs/org_acme/endpoints/whe_1", `{"events":["invoice.paid"]}`, `{"events":["invoice.unpaid"]}`, "events: "},
	{"PATCH", "/orgs/org_acme/endpoints/whe_1", `{"events":["member.*","*"]}`, `{"events":["*","member*"]}`, "events: \"member*\" has a * in the wrong place"},
	{"PATCH", "/orgs/org_acme/endpoints/whe_1", `{"events":["invoice.*"]}`, `{"events":["invoices.*"]}`, "events: no event type begins with \"invoices.\"; the event types are "},
	{"PATCH", "/orgs/org_acme/endpoints/whe_1", `{}`, `{"events":[]}`, "events: must not be empty"},
	{"PATCH", "/orgs/org_acme/endpoints/whe_1", `{"description":null}`, `{"url":""}`, "url: must start with https://"},
	{"PATCH", "/orgs/org_acme/endpoints/whe_1", `{"maxInFlight":32}`, `{"maxInFlight":33}`, "maxInFlight: is 33; a whole number from 0 to 32 is expected"},
	{"PATCH", "/orgs/org_acme/endpoints/whe_1", `{"maxInFlight":0}`, `{"maxInFlight":-1}`, "maxInFlight: is -1; a whole number from 0 to 32 is expected"},
	{"PATCH", "/orgs/org_acme/endpoints/whe_1", `{"headers":{"X":null}}`, `{"headers":{"X":7}}`, "headers.X: is a number; a string is expected"},
	{"PATCH", "/orgs/org_acme/endpoints/whe_1", `{"headers":{"X":"v"}}`, `{"headers":{"X":"v","X":"w"}}`, "headers.X: is given twice"},
	{"PATCH", "/orgs/org_acme/endpoints/whe_1", `{"headers":{}}`, `{"headers":["X: v"]}`, "headers: is a list; an object is expected"},
	{"POST", "/orgs/org_acme/endpoints", hook(`"url":"https://a.example/","headers":null`), hook(`"url":"https://a.example/","headers":{"Host":"v"}`), "headers: can't set Host: it follows from the URL"},
	{"POST", "/orgs/org_acme/endpoints/whe_1/rotate", `{"overlapSeconds":604800}`, `{"overlapSeconds":604801}`, "overlapSeconds: "},
	{"POST", "/orgs/org_acme/endpoints/whe_1/rotate", `{"overlapSeconds":0}`, `{"overlapSeconds":-1}`, "overlapSeconds: "},
	{"POST", "/orgs/org_acme/endpoints/whe_1/rotate", ``, `{"secret":"` + whsec[:20] + `"}`, "secret: "},
	{"POST", "/orgs/org_acme/replays", `{"filter":{"since":"1970-01-01T00:00:00Z"}}`, `{"filter":{"since":"1969-12-31T23:59:59Z"}}`, "filter.since: "},
	{"POST", "/orgs/org_acme/replays", `{"filter":{"since":"2026-01-01T00:00:00Z"}}`, `{"filter":{}}`, "filter: is missing"},
	{"POST", "/orgs/org_acme/members/usr_ada/signin-link", `{"expiresInSeconds":604800}`, `{"expiresInSeconds":604801}`, "expiresInSeconds: "},
	{"POST", "/orgs/org_acme/portal-link", `{"userId":"u","role":"viewer","expiresInSeconds":3600}`, `{"userId":"u","role":"viewer","expiresInSeconds":3601}`, "expiresInSeconds: "},
	{"POST", "/orgs/org_acme/files", `{"name":"` + long(200) + `","contentType":"t","size":0}`, `{"name":"` + long(201) + `","contentType":"t","size":0}`, "name: "},
	{"POST", "/orgs/org_acme/files", `{"name":"n","contentType":"t","size":9007199254740991}`, `{"name":"n","contentType":"t","size":9007199254740992}`, "size: "},
	{"POST", "/orgs/org_acme/files", `{"name":"n","contentType":"t","size":0}`, `{"name":"n","contentType":"t"}`, "size: is missing"},
	{"POST", "/orgs/org_acme/files", `{"name":"n","contentType":"t","size":0}`, `{"name":"n","contentType":"t","size":-1}`, "size: "},
	{"POST", "/orgs/org_acme/files", `{"name":"n","contentType":"t","size":2.0}`, `{"name":"n","contentType":"t","size":2.5}`, "size: is 2.5; a whole number"},
	{"PUT", "/plans/" + strings.Repeat("p", 64), `{"features":[]}`, `{"features":["fly"]}`, "features[0]: "},
	{"PUT", "/plans/free", `{"features":[]}`, `{"features":["api"]}`, `name: \"free\" is built in`},
	{"PUT", "/plans/gold", `{"features":[]}`, `{}`, "features: is missing"},
	{"PUT", "/event-types/a.b", `{"description":"` + long(500) + `"}`, `{"description":"` + long(501) + `"}`, "description: "},
	{"PUT", "/event-types/a.b", `{"schema":true}`, `{"schema":7}`, "schema: got number, want boolean or object"},
	{"PUT", "/event-types/a.b", `{"schema":null}`, `{"schema":{"properties":{"a":{"type":"odd"}}}}`, "schema.properties.a.type: "},
	{"POST", "/operator-tokens", `{"name":"` + long(200) + `"}`, `{"name":"` + long(201) + `"}`, "name: "},
	{"POST", "/operator-tokens", `{"name":"n","expiresAt":"2026-10-06T12:00:00.001Z"}`, `{"name":"n","expiresAt":"2026-10-06T12:00:00Z"}`, "expiresAt: "},
}

func hook(rest string) string { return `{"events":["member.added"],` + rest + `}` }

func entries(n int) string {
	return strings.TrimSuffix(strings.Repeat(`{"action":"a"},`, n), ",")
}

func TestBounds(t *testing.T) {
	for i, b := range bounds {
		t.Run(fmt.Sprintf("%d %s %.30s", i, b.method, b.path), func(t *testing.T) {
			env := newTestEnv(t)
			before := env.everything()
			env.wantError(env.do(b.method, b.path, b.fails), store.CodeBadRequest, strings.ReplaceAll(b.message, `\"`, `"`))
			if after := env.everything(); after != before {
				t.Errorf("before\n%s\nafter\n%s", before, after)
			}
			if got := env.do(b.method, b.path, b.passes); got.Status/100 != 2 {
				t.Errorf("%.100s: %d %s", b.passes, got.Status, got.Body)
			}
		})
	}
}

// What the state of the data forbids is a conflict, and names what to do first.
func TestConflicts(t *testing.T) {
	env := newTestEnv(t)
	env.wantAnswer(env.do("POST", "/orgs/org_other/endpoints", `{"id":"whe_9","url":"https://o.example/","events":["invoice.paid"]}`), 201, "{{*}}")
	env.wantAnswer(env.do("PUT", "/event-types/door.opened", `{}`), 201, "{{*}}")
	env.wantAnswer(env.do("POST", "/orgs/org_other/endpoints", `{"id":"whe_8","url":"https://p.example/","events":["*","door.*"]}`), 201, "{{*}}")
	env.wantAnswer(env.do("PUT", "/orgs/org_other/subscription", `{"plan":"pro"}`), 200, "{{*}}")
	env.wantAnswer(env.do("POST", "/orgs/org_acme/endpoints/whe_1/disable", ""), 200, "{{*}}")
	before := env.everything()
	for _, row := range [][4]string{
		{"POST", "/orgs", `{"id":"org_acme","name":"N"}`, "id: an org"},
		{"POST", "/orgs/org_acme/members", `{"userId":"usr_bob","role":"owner"}`, "userId: the user usr_bob is a member already"},
		{"DELETE", "/orgs/org_acme/members/usr_ada", "", "An org must have at least one owner."},
		{"PATCH", "/orgs/org_acme/members/usr_ada", `{"role":"admin"}`, "An org must have at least one owner."},
		{"POST", "/orgs/org_acme/endpoints", `{"id":"whe_1","url":"https://a.example/","events":["member.added"]}`, "id: an endpoint whe_1 exists already"},
		{"POST", "/orgs/org_acme/endpoints/whe_1/test", "", "The webhook endpoint is disabled."},
		{"DELETE", "/plans/pro", "", "The org org_other has this plan."},
		{"DELETE", "/plans/free", "", "The plan free is built in"},
		{"DELETE", "/event-types/invoice.paid", "", "The endpoint whe_9 of the org org_other selects this event type."},
		{"DELETE", "/event-types/door.opened", "", "The endpoint whe_8 of the org org_other selects door.*, of which this is the last event type."},
	} {
		env.wantError(env.do(row[0], row[1], row[2]), store.CodeConflict, row[3])
	}
	for _, row := range [][2]string{
		{"/plans/none", "There is no such plan."}, {"/event-types/none", "There is no such event type."},
		{"/event-types/webhook.test", "There is no such event type."}, {"/operator-tokens/none", "There is no such operator token."},
	} {
		env.wantError(env.do("DELETE", row[0], ""), store.CodeNotFound, row[1])
	}
	env.wantError(env.do("PUT", "/plans/a.b", `{"features":[]}`), store.CodeBadRequest, "name: ")
	env.wantError(env.do("PUT", "/event-types/a..b", `{}`), store.CodeBadRequest, "name: ")
	env.wantError(env.do("PUT", "/event-types/member.added", `{}`), store.CodeBadRequest, "name: ")
	if after := env.everything(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

// What is the same already makes no entry, no event and no commit, and a PUT of
// what is there answers 200.
func TestTheSameAgain(t *testing.T) {
	env := newTestEnv(t)
	for _, row := range [][3]string{
		{"PATCH", "/orgs/org_acme", `{"name":"Acme"}`},
		{"PUT", "/orgs/org_acme/subscription", subscription},
		{"PATCH", "/orgs/org_acme/members/usr_bob", `{"role":"member","name":null}`},
		{"PATCH", "/orgs/org_acme/endpoints/whe_1", `{"url":"https://acme.example/hook"}`},
		{"POST", "/orgs/org_acme/endpoints/whe_1/enable", ""},
	} {
		before, commits := env.everything(), env.commits.Load()
		env.wantAnswer(env.do(row[0], row[1], row[2]), 200, "{{*}}")
		equal(t, row[1], env.commits.Load()-commits, 0)
		equal(t, row[1], env.everything(), before)
	}
	env.wantAnswer(env.do("PUT", "/plans/pro", `{"features":["auditLog"]}`), 200, `{"name":"pro","features":["auditLog"],"builtIn":false}`)
	env.wantAnswer(env.do("PUT", "/event-types/invoice.paid", `{}`), 200, `{"name":"invoice.paid","description":"","schema":null,"builtIn":false}`)
}
