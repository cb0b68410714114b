package admin

import (
	"regexp"
	"strings"
	"testing"

	"teamdata/store"
)

var onceOnly = regexp.MustCompile(`"(key|token|secret)":"[^"]*"|"(url)":"[^"]*/link/[^"]*"`)

// The same POST gets the same answer again, to the byte but for a secret that is
// shown once, and is not executed again. Another one is told so.
func TestReplayedPosts(t *testing.T) {
	each(t, isPost, func(env *testEnv, o operation) {
		key := []string{"Idempotency-Key", "k", "Teamdata-Actor", "usr_ada"}
		first := env.do(o.method, o.path, o.body, key...)
		env.Advance(23 * 3600e9)
		before, log := env.everything(), env.LogOutput.String()
		again := env.do(o.method, o.path, o.body, key...)
		want := onceOnly.ReplaceAllString(first.Body, `"$1$2":null`)
		if again.Status != first.Status || again.Body != want || again.Header.Get("Content-Type") != first.Header.Get("Content-Type") {
			env.Errorf("first %d %s\nthen  %d %s", first.Status, first.Body, again.Status, again.Body)
		}
		equal(env, "first", first.Header.Get("Idempotent-Replayed"), "")
		equal(env, "again", again.Header.Get("Idempotent-Replayed"), "true")
		for _, other := range [][]string{{"Idempotency-Key", "k"}, {"Idempotency-Key", "k", "Teamdata-Actor", "usr_bob"}} {
			env.wantError(env.do(o.method, o.path, o.body, other...), store.CodeIdempotencyMismatch, "")
		}
		env.wantError(env.do(o.method, o.path, strings.TrimSuffix(o.body, "}")+spaced(o.body), key...), store.CodeIdempotencyMismatch, "")
		if after := env.everything(); after != before || env.LogOutput.String() != log {
			env.Errorf("before\n%s\nafter\n%s\nlog\n%s", before, after, env.LogOutput)
		}
	})
}

// spaced ends a body that says the same in other bytes.
func spaced(body string) string {
	if body == "" {
		return "{}"
	}
	return " }"
}

// Keys are an org's own, and those of requests outside of orgs the server's.
func TestScopesOfKeys(t *testing.T) {
	env := newTestEnv(t)
	for _, path := range []string{"/orgs/org_acme/audit-log", "/orgs/org_other/audit-log"} {
		env.wantAnswer(env.do("POST", path, `{"action":"a"}`, "Idempotency-Key", "k"), 201, "{{*}}")
	}
	env.wantAnswer(env.do("POST", "/orgs", `{"name":"N"}`, "Idempotency-Key", "k"), 201, "{{*}}")
	env.wantError(env.do("POST", "/operator-tokens", `{"name":"N"}`, "Idempotency-Key", "k"), store.CodeIdempotencyMismatch, "")
}

// An org's client doesn't use up the keys of the operator, nor the other way round.
func TestKeysOfClients(t *testing.T) {
	env := newTestEnv(t)
	var client store.Idempotency
	for range 2 {
		_, _, err := client.Do(t.Context(), env.Store, store.InOrg("org_acme"), store.IdempotencyKey{OrgID: "org_acme", Key: "k"}, store.FingerprintOf("POST", "/webhooks/whe_1/test", "", nil), func(store.Tx) (store.Answer, error) {
			return store.Answer{Status: 200}, nil
		})
		if err != nil {
			t.Errorf("a client: %v", err)
		}
		env.wantAnswer(env.do("POST", "/orgs/org_acme/audit-log", `{"action":"a"}`, "Idempotency-Key", "k"), 201, "{{*}}")
	}
}

// What says no after it was executed is kept; a request that was refused for what
// it says was not executed, and left nothing behind.
func TestRefusalsAndKeys(t *testing.T) {
	env := newTestEnv(t)
	key := []string{"Idempotency-Key", "k"}
	conflict := `{"userId":"usr_ada","role":"owner"}`
	env.wantError(env.do("POST", "/orgs/org_acme/members", conflict, key...), store.CodeConflict, "userId: ")
	env.wantAnswer(env.do("DELETE", "/orgs/org_acme/members/usr_bob", ""), 200, `{"userId":"usr_bob","revokedKeys":0}`)
	again := env.do("POST", "/orgs/org_acme/members", conflict, key...)
	env.wantError(again, store.CodeConflict, "userId: ")
	equal(t, "replayed", again.Header.Get("Idempotent-Replayed"), "true")
	if log := env.LogOutput.String(); strings.Contains(log, "409") {
		t.Errorf("a refusal is logged as a change:\n%s", log)
	}

	before := env.everything()
	forNobody := `{"scopes":["read"],"createdBy":"usr_cyn"}`
	for range 2 {
		refused := env.do("POST", "/orgs/org_acme/keys", forNobody, "Idempotency-Key", "l")
		env.wantError(refused, store.CodeBadRequest, "createdBy: ")
		equal(t, "replayed", refused.Header.Get("Idempotent-Replayed"), "")
	}
	if after := env.everything(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	env.wantAnswer(env.do("POST", "/orgs/org_acme/members", `{"userId":"usr_cyn","role":"admin"}`), 201, "{{*}}")
	env.wantAnswer(env.do("POST", "/orgs/org_acme/keys", forNobody, "Idempotency-Key", "l"), 201, "{{*}}")
}

// A key has no meaning where it is no POST.
func TestKeysAreForPosts(t *testing.T) {
	env := newTestEnv(t)
	for _, name := range []string{"A", "B"} {
		got := env.do("PATCH", "/orgs/org_acme", `{"name":"`+name+`"}`, "Idempotency-Key", "k", "Idempotency-Key", "l")
		env.wantAnswer(got, 200, `{{*}}"name":"`+name+`"{{*}}`)
	}
	env.wantError(env.do("POST", "/orgs", `{"name":"N"}`, "Idempotency-Key", "k", "Idempotency-Key", "l"), store.CodeBadRequest, "Idempotency-Key: ")
	env.wantError(env.do("POST", "/orgs", `{"name":"N"}`, "Idempotency-Key", strings.Repeat("k", 256)), store.CodeBadRequest, "Idempotency-Key: ")
}
