package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"teamdata/store"
	"teamdata/wire/fixture"
)

// sameFields are the fields that the API and an import both take: a request in the
// org $o with VALUE in it, and the same in a fixture. What only an import takes is
// history: ids and times of records, and what was revoked, disabled or has expired.
var sameFields = []struct{ method, path, body, fixture string }{
	{"PATCH", "/orgs/$o", `{"name":VALUE}`, `"name":VALUE`},
	{"PUT", "/orgs/$o/subscription", `{"id":VALUE}`, `"subscription":{"id":VALUE}`},
	{"PUT", "/orgs/$o/subscription", `{"product":VALUE}`, `"subscription":{"product":VALUE}`},
	{"PUT", "/orgs/$o/subscription", `{"plan":VALUE}`, `"subscription":{"plan":VALUE}`},
	{"PUT", "/orgs/$o/subscription", `{"interval":VALUE}`, `"subscription":{"interval":VALUE}`},
	{"PUT", "/orgs/$o/subscription", `{"status":VALUE}`, `"subscription":{"status":VALUE}`},
	{"POST", "/orgs/$o/members", `{"role":"r","userId":VALUE}`, `"members":[{"role":"r","userId":VALUE}]`},
	{"POST", "/orgs/$o/members", `{"userId":"u","role":VALUE}`, `"members":[{"userId":"u","role":VALUE}]`},
	{"POST", "/orgs/$o/members", `{"userId":"u","role":"r","name":VALUE}`, `"members":[{"userId":"u","role":"r","name":VALUE}]`},
	{"POST", "/orgs/$o/members", `{"userId":"u","role":"r","email":VALUE}`, `"members":[{"userId":"u","role":"r","email":VALUE}]`},
	{"POST", "/orgs/$o/audit-log", `{"action":VALUE}`, `"auditLog":[{"action":VALUE}]`},
	{"POST", "/orgs/$o/audit-log", `{"action":"a","actorId":VALUE}`, `"auditLog":[{"action":"a","actorId":VALUE}]`},
	{"POST", "/orgs/$o/audit-log", `{"action":"a","targetId":VALUE}`, `"auditLog":[{"action":"a","targetId":VALUE}]`},
	{"PUT", "/orgs/$o/instructions", `{"instructions":VALUE}`, `"instructions":{"instructions":VALUE}`},
	{"POST", "/orgs/$o/keys", `{"scopes":["read"],"createdBy":"usr_ada","name":VALUE}`, `"apiKeys":[{"scopes":["read"],"createdBy":"usr_ada","secret":"s","name":VALUE}]`},
	{"POST", "/orgs/$o/keys", `{"createdBy":"usr_ada","scopes":[VALUE]}`, `"apiKeys":[{"createdBy":"usr_ada","secret":"s","scopes":[VALUE]}]`},
	{"POST", "/orgs/$o/keys", `{"scopes":["read"],"createdBy":"usr_ada","expiresAt":VALUE}`, `"apiKeys":[{"scopes":["read"],"createdBy":"usr_ada","secret":"s","expiresAt":VALUE}]`},
	{"POST", "/orgs/$o/keys", `{"scopes":["receive"],"createdBy":"usr_ada","endpoints":[VALUE]}`, `"apiKeys":[{"scopes":["receive"],"createdBy":"usr_ada","secret":"s","endpoints":[VALUE]}]`},
	{"POST", "/orgs/$o/keys", `{"scopes":["receive"],"createdBy":"usr_ada","endpoints":VALUE}`, `"apiKeys":[{"scopes":["receive"],"createdBy":"usr_ada","secret":"s","endpoints":VALUE}]`},
	{"POST", "/orgs/$o/keys", `{"scopes":[VALUE],"createdBy":"usr_ada","endpoints":["whe_none"]}`, `"apiKeys":[{"scopes":[VALUE],"createdBy":"usr_ada","secret":"s","endpoints":["whe_none"]}]`},
	{"POST", "/orgs/$o/endpoints", hook(`"kind":VALUE`), `"webhooks":[` + hook(`"kind":VALUE`) + `]`},
	{"POST", "/orgs/$o/endpoints", hook(`"url":"https://a.example/","kind":VALUE`), `"webhooks":[` + hook(`"url":"https://a.example/","kind":VALUE`) + `]`},
	{"POST", "/orgs/$o/endpoints", hook(`"kind":"pull","url":VALUE`), `"webhooks":[` + hook(`"kind":"pull","url":VALUE`) + `]`},
	{"POST", "/orgs/$o/endpoints", hook(`"url":"https://a.example/","id":VALUE`), `"webhooks":[` + hook(`"url":"https://a.example/","id":VALUE`) + `]`},
	{"POST", "/orgs/$o/endpoints", hook(`"url":VALUE`), `"webhooks":[` + hook(`"url":VALUE`) + `]`},
	{"POST", "/orgs/$o/endpoints", hook(`"url":"https://a.example/","description":VALUE`), `"webhooks":[` + hook(`"url":"https://a.example/","description":VALUE`) + `]`},
	{"POST", "/orgs/$o/endpoints", hook(`"url":"https://a.example/","secret":VALUE`), `"webhooks":[` + hook(`"url":"https://a.example/","secret":VALUE`) + `]`},
	{"POST", "/orgs/$o/endpoints", `{"url":"https://a.example/","events":[VALUE]}`, `"webhooks":[{"url":"https://a.example/","events":[VALUE]}]`},
	{"PUT", "/event-types/a.b", `{"description":VALUE}`, `],"eventTypes":[{"name":"a.b","description":VALUE}`},
	{"PUT", "/event-types/a.b", `{"schema":VALUE}`, `],"eventTypes":[{"name":"a.b","schema":VALUE}`},
	{"PUT", "/plans/p", `{"features":[VALUE]}`, `],"plans":[{"name":"p","features":[VALUE]}`},
	{"POST", "/operator-tokens", `{"name":VALUE}`, `],"operatorTokens":[{"secret":"s","name":VALUE}`},
}

var sameValues = []string{
	`null`, `7`, `true`, `{}`, `{"type":"odd"}`, `{"a":1,"a":2}`, `["x"]`, `""`, `"a"`, `"a b"`, `"a\nb"`, `"a\u0000b"`, `"\u009b"`, `"\ud83d"`, `"🚀"`,
	`"` + long(64) + `"`, `"` + long(65) + `"`, `"` + long(200) + `"`, `"` + long(201) + `"`, `"` + long(501) + `"`,
	`"ada@acme.example"`, `"Ada <ada@acme.example>"`, `"not an address, other@x.example"`, `"ada@acme.example\r\nBcc: eve@x.example"`,
	`"https://b.example/"`, `"http://b.example/"`, `"https://b.example/#x"`, `"` + whsec + `"`, `"whsec_YQ=="`, `"owner"`, `"read"`, `"receive"`, `"push"`, `"pull"`, `"Pull"`, `"api"`, `"team"`, `"member.added"`,
	`"*"`, `"member.*"`, `"none.*"`, `"member*"`,
	`"2027-01-01T00:00:00Z"`, `"2027-01-01T00:00:00.5Z"`, `"2027-01-01T00:00:00+00:00"`, `"1969-12-31T23:59:59Z"`, `"10000-01-01T00:00:00Z"`, `"2027-02-29T00:00:00Z"`,
}

// What an import takes, the API takes, and the other way round; what one refuses,
// the other refuses for the same reason.
func TestImportAndAPIHaveTheSameRules(t *testing.T) {
	env := newTestEnv(t)
	n := 0
	for _, field := range sameFields {
		for _, value := range sameValues {
			n++
			org := fmt.Sprint("org_", n)
			env.Update(func(tx store.Tx) error {
				if _, err := store.ImportOrg(tx, store.Org{ID: org, Name: "O"}); err != nil {
					return err
				}
				_, err := store.ImportMember(tx, store.Member{OrgID: org, UserID: "usr_ada", Role: "owner"})
				return err
			})
			got := env.do(field.method, strings.Replace(field.path, "$o", org, 1), strings.Replace(field.body, "VALUE", value, 1))
			api := reason(got.Body)
			if got.Status/100 == 2 {
				api = ""
			}
			name := `"name":"O",`
			if strings.HasPrefix(field.fixture, `"name"`) {
				name = ""
			}
			text := `{"orgs":[{"id":"i` + org + `",` + name + strings.Replace(field.fixture, "VALUE", value, 1) + `}]}`
			if strings.HasPrefix(field.fixture, `]`) { // beside the orgs
				text = `{"orgs":[` + strings.Replace(field.fixture, "VALUE", value, 1) + `]}`
			}
			if imported := env.imports(text); imported != api {
				t.Errorf("%s %s\nimport: %q\nAPI:    %q", field.path, strings.Replace(field.body, "VALUE", value, 1), imported, api)
			}
		}
	}
}

// imports imports a fixture, and returns why it was refused, if it was.
func (env *testEnv) imports(text string) string {
	env.Helper()
	_, err := fixture.Import(context.Background(), env.Store, strings.NewReader(text), nil)
	var e *store.Error
	if err != nil && !errors.As(err, &e) {
		env.Fatal(err)
	}
	if err == nil {
		return ""
	}
	return withoutPlace(e.Error())
}

// reason is why a request was refused.
func reason(body string) string {
	var answered struct{ Error struct{ Message string } }
	if err := json.Unmarshal([]byte(body), &answered); err != nil {
		return body
	}
	return withoutPlace(answered.Error.Message)
}

var place = regexp.MustCompile(`^(line \d+, column \d+|[\w.\[\]]+): `)

// withoutPlace leaves out where in its input an error is.
func withoutPlace(message string) string { return place.ReplaceAllString(message, "") }
