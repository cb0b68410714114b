package admin

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store"
)

var firstField = regexp.MustCompile(`^\{("\w+":("[^"]*"|\[.*?\]|\{.*?\}|\d+))`)

// bodyOf is what a route takes of a body.
func bodyOf(o operation) int64 {
	for _, rt := range routes {
		if rt.method == o.method && matchesRoute(o.path, rt.path) {
			return rt.body
		}
	}
	return 0
}

// What is wrong with the form of a body is named, and nothing is done.
func TestForms(t *testing.T) {
	each(t, func(o operation) bool { return bodyOf(o) > 0 }, func(env *testEnv, o operation) {
		before := env.everything()
		for body, want := range map[string]string{
			`{"zzz":1}`:            "zzz: unknown field; ",
			`{"zz` + "\xff" + `":`: "line 1, column 5: is not valid UTF-8",
			`[]`:                   "is a list; an object is expected",
			`7`:                    "is a number; an object is expected",
			`{} {}`:                "line 1, column 4: there is more after the end",
			`{`:                    "line 1, column 2: the input ends too early",
		} {
			env.wantError(env.do(o.method, o.path, body), store.CodeBadRequest, want)
		}
		if first := firstField.FindStringSubmatch(o.body); first != nil {
			name := strings.Split(first[1], `"`)[1]
			env.wantError(env.do(o.method, o.path, `{`+first[1]+`,`+o.body[1:]), store.CodeBadRequest, name+": is given twice")
			env.wantError(env.do(o.method, o.path, `{"`+name+`":true}`), store.CodeBadRequest, name+": is ")
		}
		env.wantLimit(o)
		if after := env.everything(); after != before {
			env.Errorf("before\n%s\nafter\n%s", before, after)
		}
	})
}

// wantLimit sends a body of the most bytes, which is taken for what it says, and
// one that is a byte longer, with and without a length that is told.
func (env *testEnv) wantLimit(o operation) {
	env.Helper()
	limit := int(bodyOf(o))
	most := `{"zzz":1` + strings.Repeat(" ", limit-9) + `}`
	env.wantError(env.do(o.method, o.path, most), store.CodeBadRequest, "zzz: ")
	got := env.do(o.method, o.path, most+" ")
	env.wantError(got, store.CodePayloadTooLarge, "")
	r, _ := http.NewRequest(o.method, "http://teamdata"+basePath+o.path, struct{ *strings.Reader }{strings.NewReader(most + " ")})
	answer, err := env.client.Do(r)
	kit.Must(env, err)
	answer.Body.Close()
	equal(env, "status without a length", answer.StatusCode, http.StatusRequestEntityTooLarge)
}

// An action that has nothing to say takes an empty object for nothing.
func TestEmptyBodies(t *testing.T) {
	each(t, func(o operation) bool { return isPost(o) && o.body == "" }, func(env *testEnv, o operation) {
		env.wantAnswer(env.do(o.method, o.path, " {} "), o.status, o.answer)
	})
}

func TestActor(t *testing.T) {
	env := newTestEnv(t)
	entry := func(header ...string) kit.Answer {
		return env.do("POST", "/orgs/org_acme/audit-log", `{"action":"a"}`, header...)
	}
	env.wantAnswer(entry("Teamdata-Actor", strings.Repeat("é", 200)), 201, `{{*}}"actorId":"`+strings.Repeat("é", 200)+`"{{*}}`)
	env.wantAnswer(env.do("POST", "/orgs/org_acme/audit-log", `{"action":"a","actorId":"usr_x"}`, "Teamdata-Actor", "usr_ada"), 201, `{{*}}"actorId":"usr_x"{{*}}`)
	env.wantAnswer(env.do("POST", "/orgs/org_acme/audit-log", `{"action":"a","actorId":null}`, "Teamdata-Actor", "usr_ada"), 201, `{{*}}"actorId":null{{*}}`)
	for _, wrong := range [][]string{
		{"Teamdata-Actor", ""}, {"Teamdata-Actor", strings.Repeat("a", 201)}, {"Teamdata-Actor", "\xff"},
		{"Teamdata-Actor", "usr_ada", "Teamdata-Actor", "usr_ada"},
	} {
		env.wantError(entry(wrong...), store.CodeBadRequest, "Teamdata-Actor: ")
		env.wantError(env.do("GET", "/status", "", wrong...), store.CodeBadRequest, "Teamdata-Actor: ")
	}
}

// Of several things that are wrong, the first in the documented order is named.
func TestOrderOfFaults(t *testing.T) {
	env := newTestEnv(t)
	const org = "/orgs/org_none/members"
	env.wantError(env.do("PATCH", org, `{"zzz":1}`, "Teamdata-Actor", ""), store.CodeMethodNotAllowed, "")
	env.wantError(env.do("POST", org, `{"zzz":1}`, "Teamdata-Actor", "", "Idempotency-Key", ""), store.CodeBadRequest, "Teamdata-Actor: ")
	env.wantError(env.do("POST", org, `{"zzz":1}`, "Idempotency-Key", ""), store.CodeBadRequest, "Idempotency-Key: ")
	env.wantError(env.do("POST", org, `{"zzz":1}`), store.CodeBadRequest, "zzz: ")
	env.wantError(env.do("GET", org+"?limit=0", ""), store.CodeBadRequest, "limit: ")
	env.wantError(env.do("POST", org, `{"role":""}`), store.CodeNotFound, "There is no such org.")
	env.wantError(env.do("POST", "/orgs/org_acme/members", `{"role":""}`), store.CodeBadRequest, "userId: ")
	key := []string{"Idempotency-Key", "k"}
	env.wantError(env.do("POST", org, `{"role":"owner"}`, key...), store.CodeNotFound, "There is no such org.")
	env.wantError(env.do("POST", org, `{"role":"admin"}`, key...), store.CodeIdempotencyMismatch, "")
}
