package admin

import "strings"

// operation is a request that succeeds in a new environment, and what it does. In
// paths and bodies $whd stands for the environment's delivery.
type operation struct {
	method, path, body string
	status             int
	answer             string // see matches
	audit              string // actions of the entries that it makes
	events             string // types of the events that it sends to whe_1
}

const (
	subscription = `{"id":"sub_1","product":"teamdata","plan":"business","interval":"month","status":"active"}`
	acme         = `{"id":"org_acme","name":"Acme","createdAt":"2026-01-01T00:00:00.000Z","subscription":` + subscription + `}`
	ada          = `{"id":"mem_1","userId":"usr_ada","role":"owner","name":"Ada","email":"ada@acme.example","createdAt":"2026-01-01T00:00:00.000Z","apiKeys":{"active":1,"suspended":0}}`
	bob          = `{"id":"mem_2","userId":"usr_bob","role":"member","name":"","email":"","createdAt":"2026-01-02T00:00:00.000Z","apiKeys":{"active":0,"suspended":0}}`
	key1         = `{"id":"key_1","name":"reader","state":"active","scopes":["read"],"createdBy":"usr_ada","createdAt":"2026-01-01T00:00:00.000Z","expiresAt":null,"revokedAt":null,"lastUsedAt":"2026-01-03T00:00:00.002Z"}`
	whe1         = `{"id":"whe_1","kind":"push","url":"https://acme.example/hook","description":"","events":["member.added","member.changed","member.removed","subscription.changed","file.uploaded","assistant.instructionsChanged"],"createdAt":"2026-01-01T00:00:00.000Z","disabledAt":null,"disabledBy":null,"disabledReason":null,"oldSecretUntil":null}`
	whd1         = `{"id":"$whd","endpointId":"whe_1","eventId":"{{evt}}","eventType":"webhook.test","state":"failed","attempts":1,"lastAttemptAt":"2026-10-06T11:00:00.012Z","lastStatus":500,"lastReason":"the receiver answered 500, and not 2xx","createdAt":"2026-10-06T12:00:00.000Z","dueAt":null,"finishedAt":"2026-10-06T11:00:00.012Z"`
	history      = `[{"startedAt":"2026-10-06T11:00:00.000Z","tookMs":12.345,"status":500,"reason":"the receiver answered 500, and not 2xx","answer":"oops\ufffd","nextAt":null}]`
	rpl1         = `{"id":"rpl_1","state":"running","done":1,"total":2,"more":false,"filter":{"endpoint":"whe_1","state":"failed","type":null,"status":null,"since":"2026-01-01T00:00:00.000Z","until":null,"q":null},"actorId":"usr_ada","createdAt":"2026-01-03T00:00:00.000Z","finishedAt":null}`
	token1       = `{"id":"opr_1","name":"CI","createdAt":"2026-01-01T00:00:00.000Z","expiresAt":null}`
	builtInPlans = `{"name":"free","features":[],"builtIn":true},{"name":"team","features":["api","webhooks"],"builtIn":true},` +
		`{"name":"business","features":["api","webhooks","auditLog"],"builtIn":true},{"name":"selfHosted","features":["api","webhooks","auditLog"],"builtIn":true}`
	at = `"2026-10-06T12:00:00.000Z"`
)

var operations = []operation{
	{method: "GET", path: "/status", status: 200, answer: `{"version":"1.2.3","dataFile":"/srv/teamdata.db","size":65536,"schema":1,"sealed":false,"aheadOfClock":null,"since":` + at + `,"addresses":["https://127.0.0.1:8443"],"certificates":[{"name":"data.example.com","authority":"https://acme.test/dir","notAfter":` + at + `,"nextRenewal":null,"lastError":"no answer","lastErrorAt":null}],"waiting":{"endpoints":0,"dueAt":null,"pull":0,"pullAt":null,"leased":0,"mails":0},"deletedOrgs":[]}`},
	{method: "GET", path: "/backup", status: 200, answer: "{{*}}"},
	{method: "GET", path: "/audit-log", status: 200, answer: `{"data":[],"next":null,"hasMore":false}`},
	{method: "GET", path: "/orgs", status: 200, answer: `{"data":[` + acme + `,{"id":"org_other",{{*}}}],"next":"0.org_other","hasMore":false}`},
	{method: "POST", path: "/orgs", body: `{"id":"org_new","name":"New"}`, status: 201,
		answer: `{"id":"org_new","name":"New","createdAt":` + at + `,"subscription":{"id":"{{sub}}","product":"teamdata","plan":"selfHosted","interval":"none","status":"active"}}`},
	{method: "GET", path: "/orgs/org_acme", status: 200, answer: acme},
	{method: "PATCH", path: "/orgs/org_acme", body: `{"name":"Ácme"}`, status: 200, answer: strings.Replace(acme, "Acme", "Ácme", 1), audit: "org.renamed"},
	{method: "DELETE", path: "/orgs/org_acme", status: 204},
	{method: "GET", path: "/orgs/org_acme/subscription", status: 200, answer: subscription},
	{method: "PUT", path: "/orgs/org_acme/subscription", body: `{"plan":"team"}`, status: 200,
		answer: strings.Replace(subscription, "business", "team", 1), audit: "subscription.changed", events: "subscription.changed"},

	{method: "GET", path: "/orgs/org_acme/members", status: 200, answer: `{"data":[` + ada + `,` + bob + `],"next":"1767312000000.mem_2","hasMore":false}`},
	{method: "POST", path: "/orgs/org_acme/members", body: `{"userId":"usr_cyn","role":"admin","name":"Cyn","email":"cyn@acme.example"}`, status: 201,
		answer: `{"id":"{{mem}}","userId":"usr_cyn","role":"admin","name":"Cyn","email":"cyn@acme.example","createdAt":` + at + `,"apiKeys":{"active":0,"suspended":0}}`, audit: "member.added", events: "member.added"},
	{method: "GET", path: "/orgs/org_acme/members/usr_ada", status: 200, answer: ada},
	{method: "PUT", path: "/orgs/org_acme/members/usr_cyn", body: `{"role":"member","name":"Cyn"}`, status: 201,
		answer: `{"id":"{{mem}}","userId":"usr_cyn","role":"member","name":"Cyn","email":"","createdAt":` + at + `,"apiKeys":{"active":0,"suspended":0}}`, audit: "member.added", events: "member.added"},
	{method: "PATCH", path: "/orgs/org_acme/members/usr_bob", body: `{"role":"admin"}`, status: 200, answer: strings.Replace(bob, `"member"`, `"admin"`, 1), audit: "member.roleChanged", events: "member.changed"},
	{method: "DELETE", path: "/orgs/org_acme/members/usr_bob", status: 200, answer: `{"userId":"usr_bob","revokedKeys":0}`, audit: "member.removed", events: "member.removed"},

	{method: "POST", path: "/orgs/org_acme/members/usr_ada/signin-link", body: `{"expiresInSeconds":3600}`, status: 201,
		answer: `{"id":"{{sil}}","userId":"usr_ada","createdAt":` + at + `,"expiresAt":"2026-10-06T13:00:00.000Z","url":"https://data.example.com/link/{{sil}}.{{secret}}","token":"{{sil}}.{{secret}}"}`, audit: "signInLink.created"},

	{method: "POST", path: "/orgs/org_acme/portal-link", body: `{"userId":"usr_guest","role":"viewer","name":"Guest","expiresInSeconds":300}`, status: 201,
		answer: `{"id":"{{sil}}","userId":"usr_guest","role":"viewer","createdAt":` + at + `,"expiresAt":"2026-10-06T12:05:00.000Z","url":"https://data.example.com/link/{{sil}}.{{secret}}","token":"{{sil}}.{{secret}}"}`, audit: "portalLink.created"},
	{method: "GET", path: "/orgs/org_acme/portal-sessions", status: 200,
		answer: `{"data":[{"id":"ses_1","userId":"usr_guest","role":"viewer","name":"Guest","email":"","userAgent":"Browser/1","createdAt":` + at + `,"lastSeenAt":` + at + `}],"next":"0.ses_1","hasMore":false}`},
	{method: "DELETE", path: "/orgs/org_acme/portal-sessions/ses_1", status: 204, audit: "portalSession.ended"},

	{method: "POST", path: "/orgs/org_acme/members/batch", body: `{"members":[{"userId":"usr_cyn","role":"admin","name":"Cyn"},{"userId":"usr_dan","role":"member"}]}`, status: 201,
		answer: `{"members":[{"result":"added","member":{"id":"{{mem}}","userId":"usr_cyn","role":"admin","name":"Cyn","email":"","createdAt":` + at + `,"apiKeys":{"active":0,"suspended":0}}},` +
			`{"result":"added","member":{"id":"{{mem}}","userId":"usr_dan","role":"member","name":"","email":"","createdAt":` + at + `,"apiKeys":{"active":0,"suspended":0}}}]}`,
		audit: "member.added member.added", events: "member.added member.added"},

	{method: "GET", path: "/orgs/org_acme/audit-log", status: 200,
		answer: `{"data":[{"id":"aud_1","actorId":"usr_ada","action":"org.created","targetId":null,"createdAt":"2026-01-01T00:00:00.000Z"}],"next":"1767225600000.aud_1","hasMore":false}`},
	{method: "POST", path: "/orgs/org_acme/audit-log", body: `{"action":"door.opened","targetId":"door_7"}`, status: 201,
		answer: `{"id":"{{aud}}","actorId":null,"action":"door.opened","targetId":"door_7","createdAt":` + at + `}`, audit: "door.opened"},
	{method: "POST", path: "/orgs/org_acme/audit-log/batch", body: `{"entries":[{"action":"a"},{"action":"b","actorId":"usr_x"}]}`, status: 201,
		answer: `{"ids":["{{aud}}","{{aud}}"]}`, audit: "a b"},

	{method: "GET", path: "/orgs/org_acme/instructions", status: 200, answer: `{"instructions":"Be brief.","updatedAt":"2026-01-01T00:00:00.000Z"}`},
	{method: "PUT", path: "/orgs/org_acme/instructions", body: `{"instructions":"Be kind."}`, status: 200,
		answer: `{"instructions":"Be kind.","updatedAt":` + at + `}`, audit: "assistant.instructionsChanged", events: "assistant.instructionsChanged"},
	{method: "DELETE", path: "/orgs/org_acme/instructions", status: 204, audit: "assistant.instructionsChanged", events: "assistant.instructionsChanged"},

	{method: "GET", path: "/orgs/org_acme/keys", status: 200, answer: `{"data":[` + key1 + `],"next":"0.key_1","hasMore":false}`},
	{method: "POST", path: "/orgs/org_acme/keys", body: `{"name":"w","scopes":["write","read"],"createdBy":"usr_ada","expiresAt":"2026-10-07T00:00:00Z"}`, status: 201,
		answer: `{"id":"{{key}}","name":"w","state":"active","scopes":["read","write"],"createdBy":"usr_ada","createdAt":` + at + `,"expiresAt":"2026-10-07T00:00:00.000Z","revokedAt":null,"lastUsedAt":null,"key":"{{key}}.{{secret}}"}`, audit: "apiKey.created"},
	{method: "GET", path: "/orgs/org_acme/keys/key_1", status: 200, answer: key1},
	{method: "POST", path: "/orgs/org_acme/keys", body: `{"scopes":["receive"],"endpoints":[],"createdBy":"usr_ada"}`, status: 201,
		answer: `{"id":"{{key}}","name":"","state":"active","scopes":["receive"],"createdBy":"usr_ada","createdAt":` + at + `,"expiresAt":null,"revokedAt":null,"lastUsedAt":null,"key":"{{key}}.{{secret}}"}`, audit: "apiKey.created"},
	{method: "POST", path: "/orgs/org_acme/keys/key_1/revoke", status: 200, answer: strings.NewReplacer(`"revokedAt":null`, `"revokedAt":`+at, "active", "revoked").Replace(key1), audit: "apiKey.revoked"},

	{method: "GET", path: "/orgs/org_acme/endpoints", status: 200, answer: `{"data":[` + whe1 + `],"next":"0.whe_1","hasMore":false}`},
	{method: "POST", path: "/orgs/org_acme/endpoints", body: `{"id":"whe_2","url":"https://acme.example/2","events":["invoice.paid"],"description":"Books"}`, status: 201,
		answer: `{"id":"whe_2","kind":"push","url":"https://acme.example/2","description":"Books","events":["invoice.paid"],"createdAt":` + at + `,"disabledAt":null,"disabledBy":null,"disabledReason":null,"oldSecretUntil":null,"secret":"{{whsec}}"}`, audit: "endpoint.created"},
	{method: "POST", path: "/orgs/org_acme/endpoints", body: `{"id":"whe_pull","kind":"pull","events":["invoice.paid"]}`, status: 201,
		answer: `{"id":"whe_pull","kind":"pull","description":"","events":["invoice.paid"],"createdAt":` + at + `,"disabledAt":null,"disabledBy":null,"disabledReason":null,"oldSecretUntil":null,"lastPulledAt":null,"lastPulledBy":null,"secret":"{{whsec}}"}`, audit: "endpoint.created"},
	{method: "GET", path: "/orgs/org_acme/endpoints/whe_1", status: 200, answer: whe1},
	{method: "PATCH", path: "/orgs/org_acme/endpoints/whe_1", body: `{"description":"Main"}`, status: 200, answer: strings.Replace(whe1, `"description":""`, `"description":"Main"`, 1), audit: "endpoint.changed"},
	{method: "DELETE", path: "/orgs/org_acme/endpoints/whe_1", status: 204, audit: "endpoint.removed"},
	{method: "GET", path: "/orgs/org_acme/endpoints/whe_1/secret", status: 200, answer: `{"secret":"` + whsec + `","oldSecret":null,"oldSecretUntil":null}`, audit: "endpoint.secretShown"},
	{method: "GET", path: "/orgs/org_acme/endpoints/whe_1/headers", status: 200, answer: `{"headers":{}}`, audit: "endpoint.headersShown"},
	{method: "PATCH", path: "/orgs/org_acme/endpoints/whe_1", body: `{"headers":{"X-Key":"v","a":"b"},"rate":"10/s","maxInFlight":4}`, status: 200,
		answer: strings.TrimSuffix(whe1, "}") + `,"headerNames":["a","X-Key"],"rate":"10/s","maxInFlight":4}`, audit: "endpoint.changed"},
	{method: "POST", path: "/orgs/org_acme/endpoints/whe_1/enable", status: 200, answer: whe1},
	{method: "POST", path: "/orgs/org_acme/endpoints/whe_1/disable", status: 200, answer: strings.Replace(whe1, `"disabledAt":null`, `"disabledAt":`+at, 1), audit: "endpoint.disabled"},
	{method: "POST", path: "/orgs/org_acme/endpoints/whe_1/rotate", body: `{"overlapSeconds":60}`, status: 200,
		answer: strings.Replace(strings.TrimSuffix(whe1, "}"), `"oldSecretUntil":null`, `"oldSecretUntil":"2026-10-06T12:01:00.000Z"`, 1) + `,"secret":"{{whsec}}"}`, audit: "endpoint.secretRotated"},
	{method: "POST", path: "/orgs/org_acme/endpoints/whe_1/test", status: 200, answer: `{"id":"{{whd}}"}`, events: "webhook.test"},
	{method: "GET", path: "/orgs/org_acme/deliveries", status: 200, answer: `{"data":[` + whd1 + `}],"next":"1791284400012.$whd","hasMore":false}`},
	{method: "GET", path: "/orgs/org_acme/deliveries/$whd", status: 200,
		answer: whd1 + `,"body":{"type":"webhook.test","timestamp":` + at + `,"data":{"orgId":"org_acme","endpointId":"whe_1"}},"history":` + history + `}`},
	{method: "POST", path: "/orgs/org_acme/deliveries/$whd/replay", status: 200,
		answer: `{"id":"$whd","endpointId":"whe_1","eventId":"{{evt}}","eventType":"webhook.test","state":"pending","attempts":0,"lastAttemptAt":"2026-10-06T11:00:00.012Z","lastStatus":500,"lastReason":"the receiver answered 500, and not 2xx","createdAt":` + at + `,"dueAt":` + at + `,"finishedAt":null}`, audit: "delivery.replayed", events: "webhook.test"},

	{method: "GET", path: "/orgs/org_acme/replays", status: 200, answer: `{"data":[` + rpl1 + `],"next":"0.rpl_1","hasMore":false}`},
	{method: "POST", path: "/orgs/org_acme/replays", body: `{"filter":{"status":"5xx"}}`, status: 201,
		answer: `{"id":"{{rpl}}","state":"running","done":0,"total":1,"more":false,"filter":{"endpoint":null,"state":"unsuccessful","type":null,"status":"5xx","since":null,"until":null,"q":null},"actorId":{{*}},"createdAt":` + at + `,"finishedAt":null}`, audit: "deliveries.replayed"},
	{method: "GET", path: "/orgs/org_acme/replays/rpl_1", status: 200, answer: rpl1},
	{method: "POST", path: "/orgs/org_acme/replays/rpl_1/cancel", status: 200, answer: strings.NewReplacer("running", "cancelled", `"finishedAt":null`, `"finishedAt":`+at).Replace(rpl1), audit: "deliveries.replayCancelled"},

	{method: "POST", path: "/orgs/org_acme/files", body: `{"name":"plan.pdf","contentType":"application/pdf","size":48213}`, status: 201,
		answer: `{"id":"{{fil}}","name":"plan.pdf","contentType":"application/pdf","size":48213}`, audit: "file.uploaded", events: "file.uploaded"},
	{method: "POST", path: "/orgs/org_acme/events", body: `{"type":"member.added","data":{"orgId":"org_acme","memberId":"m","userId":"u","role":"r"}}`, status: 201, answer: `{"deliveries":["{{whd}}"]}`, events: "member.added"},

	{method: "POST", path: "/orgs/org_acme/events/batch", body: `{"events":[{"type":"member.added","data":{"orgId":"org_acme","memberId":"m","userId":"u","role":"r"}},{"type":"invoice.paid","data":{"amount":1}}]}`, status: 201,
		answer: `{"events":[{"deliveries":["{{whd}}"]},{"deliveries":[]}]}`, events: "member.added"},

	{method: "GET", path: "/plans", status: 200, answer: `{"data":[` + builtInPlans + `,{"name":"pro","features":["api"],"builtIn":false}],"next":"4.pro","hasMore":false}`},
	{method: "PUT", path: "/plans/gold", body: `{"features":["webhooks","api"]}`, status: 201, answer: `{"name":"gold","features":["api","webhooks"],"builtIn":false}`},
	{method: "DELETE", path: "/plans/pro", status: 204},
	{method: "GET", path: "/event-types", status: 200, answer: `{"data":[{"name":"member.added","description":"A member joins","schema":{"type":"object",{{*}}},"builtIn":true},{{*}},{"name":"invoice.paid","description":"An invoice was paid","schema":` + invoice + `,"builtIn":false}],"next":"7.invoice.paid","hasMore":false}`},
	{method: "PUT", path: "/event-types/door.opened", body: `{"description":"A door","schema":{ "type": "object" }}`, status: 201, answer: `{"name":"door.opened","description":"A door","schema":{"type":"object"},"builtIn":false}`},
	{method: "DELETE", path: "/event-types/invoice.paid", status: 204},
	{method: "GET", path: "/nodes", status: 200, answer: `{"data":[{"name":"node-1","state":"running","version":"1.2.3","shards":64,"clockOffsetMs":-12,"startedAt":` + at + `,"seenAt":` + at + `}],"next":"0.node-1","hasMore":false}`},
	{method: "GET", path: "/operator-tokens", status: 200, answer: `{"data":[` + token1 + `],"next":"0.opr_1","hasMore":false}`},
	{method: "POST", path: "/operator-tokens", body: `{"name":"deploy"}`, status: 201, answer: `{"id":"{{opr}}","name":"deploy","createdAt":` + at + `,"expiresAt":null,"token":"{{opr}}.{{secret}}"}`},
	{method: "DELETE", path: "/operator-tokens/opr_1", status: 204},
}

// in is the operation with what is known only in an environment.
func (o operation) in(env *testEnv) operation {
	for _, text := range []*string{&o.path, &o.body, &o.answer} {
		*text = strings.ReplaceAll(*text, "$whd", env.delivery)
	}
	return o
}

func (o operation) String() string { return o.method + " " + o.path }

// changes reports whether it is anything but a GET.
func (o operation) changes() bool { return o.method != "GET" }

// inOrg reports whether its path names an org.
func (o operation) inOrg() bool { return strings.HasPrefix(o.path, "/orgs/") }

// resource reports whether its path names something in an org, which has to be
// there.
func (o operation) resource() bool {
	parts := strings.Split(o.path, "/")
	return o.inOrg() && len(parts) > 4 && parts[4] != "batch" && o.method != "PUT"
}
