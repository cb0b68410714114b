package admin

import (
	"regexp"
	"strings"
	"testing"

	"teamdata/store"
)

var shownOnce = regexp.MustCompile(`"(key|token|secret)":"[^"]*"|"(url)":"[^"]*/link/[^"]*"`)

// The same POST gets the same answer again, to the byte but for a secret that is
// shown once, and is not executed again. Another one is told so.
func TestReplayedPosts(t *testing.T) {
	each(t, isPost, func(w *world, o operation) {
		key := []string{"Idempotency-Key", "k", "Teamdata-Actor", "usr_ada"}
		first := w.do(o.method, o.path, o.body, key...)
		w.pass(23 * 3600e9)
		before, log := w.everything(), w.log.String()
		again := w.do(o.method, o.path, o.body, key...)
		want := shownOnce.ReplaceAllString(first.body, `"$1$2":null`)
		if again.status != first.status || again.body != want || again.header.Get("Content-Type") != first.header.Get("Content-Type") {
			w.Errorf("first %d %s\nthen  %d %s", first.status, first.body, again.status, again.body)
		}
		equal(w, "first", first.header.Get("Idempotent-Replayed"), "")
		equal(w, "again", again.header.Get("Idempotent-Replayed"), "true")
		for _, other := range [][]string{{"Idempotency-Key", "k"}, {"Idempotency-Key", "k", "Teamdata-Actor", "usr_bob"}} {
			w.refuses(w.do(o.method, o.path, o.body, other...), store.CodeIdempotencyMismatch, "")
		}
		w.refuses(w.do(o.method, o.path, strings.TrimSuffix(o.body, "}")+spaced(o.body), key...), store.CodeIdempotencyMismatch, "")
		if after := w.everything(); after != before || w.log.String() != log {
			w.Errorf("before\n%s\nafter\n%s\nlog\n%s", before, after, w.log)
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
	w := newWorld(t)
	for _, path := range []string{"/orgs/org_acme/audit-log", "/orgs/org_other/audit-log"} {
		w.holds(w.do("POST", path, `{"action":"a"}`, "Idempotency-Key", "k"), 201, "{{*}}")
	}
	w.holds(w.do("POST", "/orgs", `{"name":"N"}`, "Idempotency-Key", "k"), 201, "{{*}}")
	w.refuses(w.do("POST", "/operator-tokens", `{"name":"N"}`, "Idempotency-Key", "k"), store.CodeIdempotencyMismatch, "")
}

// What says no after it was executed is kept; a request that was refused for what
// it says was not executed, and left nothing behind.
func TestRefusalsAndKeys(t *testing.T) {
	w := newWorld(t)
	key := []string{"Idempotency-Key", "k"}
	conflict := `{"userId":"usr_ada","role":"owner"}`
	w.refuses(w.do("POST", "/orgs/org_acme/members", conflict, key...), store.CodeConflict, "userId: ")
	w.holds(w.do("DELETE", "/orgs/org_acme/members/usr_bob", ""), 204, "")
	again := w.do("POST", "/orgs/org_acme/members", conflict, key...)
	w.refuses(again, store.CodeConflict, "userId: ")
	equal(t, "replayed", again.header.Get("Idempotent-Replayed"), "true")

	before := w.everything()
	forNobody := `{"scopes":["read"],"createdBy":"usr_cyn"}`
	for range 2 {
		refused := w.do("POST", "/orgs/org_acme/keys", forNobody, "Idempotency-Key", "l")
		w.refuses(refused, store.CodeBadRequest, "createdBy: ")
		equal(t, "replayed", refused.header.Get("Idempotent-Replayed"), "")
	}
	if after := w.everything(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	w.holds(w.do("POST", "/orgs/org_acme/members", `{"userId":"usr_cyn","role":"admin"}`), 201, "{{*}}")
	w.holds(w.do("POST", "/orgs/org_acme/keys", forNobody, "Idempotency-Key", "l"), 201, "{{*}}")
}

// A key has no meaning where it is no POST.
func TestKeysAreForPosts(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"A", "B"} {
		got := w.do("PATCH", "/orgs/org_acme", `{"name":"`+name+`"}`, "Idempotency-Key", "k", "Idempotency-Key", "l")
		w.holds(got, 200, `{{*}}"name":"`+name+`"{{*}}`)
	}
	w.refuses(w.do("POST", "/orgs", `{"name":"N"}`, "Idempotency-Key", "k", "Idempotency-Key", "l"), store.CodeBadRequest, "Idempotency-Key: ")
	w.refuses(w.do("POST", "/orgs", `{"name":"N"}`, "Idempotency-Key", strings.Repeat("k", 256)), store.CodeBadRequest, "Idempotency-Key: ")
}
