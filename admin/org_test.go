package admin

import (
	"context"
	"strings"
	"testing"

	"teamdata/store"
)

// A deleted org is unknown at once, also to a request under a key that was used
// before; its id is taken until a sweep has dropped its data, and then nothing is
// left of it, not even the answers that were kept.
func TestDeletedOrg(t *testing.T) {
	env := newTestEnv(t)
	removed := 0
	env.admin.config.Removed = func() { removed++ }
	entry := []string{"/orgs/org_acme/audit-log", `{"action":"a"}`, "Idempotency-Key", "k"}
	env.wantAnswer(env.do("POST", entry[0], entry[1], entry[2:]...), 201, "{{*}}")
	others := env.do("GET", "/orgs/org_other/members", "").Body
	env.wantAnswer(env.do("DELETE", "/orgs/org_acme", "", "Teamdata-Actor", "usr_op"), 204, "")
	env.wantAnswer(env.do("GET", "/audit-log", ""), 200, `{"data":[{"id":"{{aud}}","actorId":"usr_op","action":"org.deleted","targetId":"org_acme",{{*}}}],{{*}}`)
	for _, o := range operations {
		if o = o.in(env); o.inOrg() {
			env.wantError(env.do(o.method, o.path, o.body), store.CodeNotFound, "There is no such org.")
		}
	}
	env.wantAnswer(env.do("GET", "/orgs", ""), 200, `{"data":[{"id":"org_other",{{*}}}],{{*}}`)
	const again = `{"id":"org_acme","name":"Another"}`
	env.wantError(env.do("POST", "/orgs", again), store.CodeConflict, `id: an org "org_acme" was deleted, and its data is still being dropped; try again later, or choose another id`)
	if refused := env.imports(`{"orgs":[` + again + `]}`); !strings.Contains(refused, "still being dropped") {
		t.Errorf("an import is told %q", refused)
	}
	equal(t, "calls of Removed", removed, 1)
	env.wantAnswer(env.do("GET", "/status", ""), 200, `{{*}},"deletedOrgs":["org_acme"]}`)

	if err := store.DropRemoved(context.Background(), env.Store); err != nil {
		t.Fatal(err)
	}
	equal(t, "the other org's members", env.do("GET", "/orgs/org_other/members", "").Body, others)
	env.wantAnswer(env.do("GET", "/status", ""), 200, `{{*}},"deletedOrgs":[]}`)
	env.wantAnswer(env.do("POST", "/orgs", again), 201, "{{*}}")
	env.wantAnswer(env.do("GET", "/orgs/org_acme/members", ""), 200, `{"data":[],"next":null,"hasMore":false}`)
	env.wantAnswer(env.do("GET", "/orgs/org_acme/audit-log", ""), 200, `{"data":[{{{*}}"org.created"{{*}}}],{{*}}`)
	replayed := env.do("POST", entry[0], entry[1], entry[2:]...).Header.Get("Idempotent-Replayed")
	equal(t, "an answer of the old org", replayed, "")
}
