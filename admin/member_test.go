package admin

import (
	"strings"
	"testing"

	"teamdata/store"
)

const cyns = "/orgs/org_acme/keys/key_cyn"

// newKeeper adds an admin who creates a key.
func (env *testEnv) newKeeper() {
	env.Helper()
	env.do("POST", "/orgs/org_acme/members", `{"userId":"usr_cyn","role":"admin"}`)
	env.Update(func(tx store.Tx) error {
		return imports(store.ImportKey, tx, store.APIKey{OrgID: "org_acme", ID: "key_cyn", Scopes: store.ScopeRead, CreatedBy: "usr_cyn", CreatedAt: day(1)})()
	})
}

// Removing a member revokes the keys that the member created, also suspended ones:
// they stay so when the member comes back.
func TestRemovedMembersKeys(t *testing.T) {
	for _, role := range []string{"admin", "member"} {
		env := newTestEnv(t)
		env.newKeeper()
		env.do("PATCH", "/orgs/org_acme/members/usr_cyn", `{"role":"`+role+`"}`)
		before := len(env.effects("org_acme").audit)
		env.wantAnswer(env.do("DELETE", "/orgs/org_acme/members/usr_cyn", ""), 200, `{"userId":"usr_cyn","revokedKeys":1}`)
		equal(t, "audit", strings.Join(env.effects("org_acme").audit[before:], " "), "apiKey.revoked member.removed")
		env.do("POST", "/orgs/org_acme/members", `{"userId":"usr_cyn","role":"admin"}`)
		env.wantAnswer(env.do("GET", cyns, ""), 200, `{{*}}"state":"revoked"{{*}}"revokedAt":`+at+`,{{*}}`)
	}
}

// A key is suspended while its creator manages nothing, and everybody can see it.
func TestDemotedMembersKeys(t *testing.T) {
	env := newTestEnv(t)
	env.newKeeper()
	for _, row := range []struct{ role, state, keys string }{
		{"member", "suspended", `{"active":0,"suspended":1}`}, {"owner", "active", `{"active":1,"suspended":0}`},
	} {
		env.wantAnswer(env.do("PATCH", "/orgs/org_acme/members/usr_cyn", `{"role":"`+row.role+`"}`), 200, `{{*}}"apiKeys":`+row.keys+`}`)
		env.wantAnswer(env.do("GET", "/orgs/org_acme/members", ""), 200, `{{*}}"usr_cyn",{{*}}"apiKeys":`+row.keys+`}],{{*}}`)
		env.wantAnswer(env.do("GET", "/orgs/org_acme/keys", ""), 200, `{{*}}"key_cyn","name":"","state":"`+row.state+`",{{*}}`)
		env.wantAnswer(env.do("GET", cyns, ""), 200, `{{*}}"state":"`+row.state+`",{{*}}"revokedAt":null,{{*}}`)
	}
}

// A PUT adds a user, changes the member, or finds that nothing is to be done; each
// with what the single operations write and send.
func TestPutMember(t *testing.T) {
	env := newTestEnv(t)
	const path = "/orgs/org_acme/members/usr_cyn"
	for _, step := range []struct {
		body         string
		status       int
		shows, audit string
		event        string
		commits      int64
	}{
		{`{"role":"member","name":"Cyn","email":"cyn@acme.example"}`, 201, `"role":"member","name":"Cyn","email":"cyn@acme.example"`, " member.added", "member.added", 1},
		{`{"role":"member","name":"Cyn","email":"cyn@acme.example"}`, 200, `"role":"member","name":"Cyn","email":"cyn@acme.example"`, "", "", 0},
		{`{"role":"member"}`, 200, `"role":"member","name":"Cyn","email":"cyn@acme.example"`, "", "", 0},
		{`{"role":"admin"}`, 200, `"role":"admin","name":"Cyn","email":"cyn@acme.example"`, " member.roleChanged", "member.changed", 1},
		{`{"role":"admin","name":null,"email":""}`, 200, `"role":"admin","name":"","email":""`, " member.changed", "member.changed", 1},
	} {
		before, commits := env.effects("org_acme"), env.commits.Load()
		env.wantAnswer(env.do("PUT", path, step.body), step.status, `{{*}}`+step.shows+`{{*}}`)
		after := env.effects("org_acme")
		equal(t, "audit", strings.Join(append([]string{""}, after.audit[len(before.audit):]...), " "), step.audit)
		equal(t, "events", strings.Join(after.waiting[len(before.waiting):], " "), step.event)
		equal(t, "commits", env.commits.Load()-commits, step.commits)
	}
	before := env.everything()
	env.wantError(env.do("PUT", path, `{}`), store.CodeBadRequest, "role: is missing or empty")
	env.wantError(env.do("PUT", path, `{"role":""}`), store.CodeBadRequest, "role: is missing or empty")
	env.wantError(env.do("PUT", "/orgs/org_acme/members/usr%20x", `{"role":"admin"}`), store.CodeBadRequest, "userId: must be ")
	env.wantError(env.do("PUT", "/orgs/org_acme/members/usr_ada", `{"role":"admin"}`), store.CodeConflict, "An org must have at least one owner.")
	equal(t, "everything", env.everything(), before)
}

// What is done to the server is in the operator's log.
func TestOperatorLog(t *testing.T) {
	env := newTestEnv(t)
	for _, o := range operations {
		if o.changes() && !o.inOrg() {
			env.wantAnswer(env.do(o.method, o.path, o.body, "Teamdata-Actor", "usr_op"), o.status, o.answer)
		}
	}
	var want strings.Builder
	for i, entry := range []string{"org.created org_new", "plan.created gold", "plan.deleted pro", "eventType.created door.opened", "eventType.deleted invoice.paid", "operatorToken.created {{opr}}", "operatorToken.revoked opr_1"} {
		action, target, _ := strings.Cut(entry, " ")
		want.WriteString([]string{"", ","}[min(i, 1)] + `{"id":"{{aud}}","actorId":"usr_op","action":"` + action + `","targetId":"` + target + `","createdAt":"{{*}}"}`)
	}
	env.wantAnswer(env.do("GET", "/audit-log", ""), 200, `{"data":[`+want.String()+`],{{*}}"hasMore":false}`)
}

// A member that is read has the sign-in name of its account, if it has one. Lists don't, for
// it is of the account.
func TestSignInNameOfMember(t *testing.T) {
	env := newTestEnv(t)
	env.wantAnswer(env.do("GET", "/orgs/org_acme/members/usr_bob", ""), 200, bob)
	env.Update(func(tx store.Tx) error {
		return tx.PutAccount(store.Account{UserID: "usr_bob", SignInName: "bob.b", CreatedAt: tx.Now()})
	})
	env.wantAnswer(env.do("GET", "/orgs/org_acme/members/usr_bob", ""), 200, strings.TrimSuffix(bob, "}")+`,"signInName":"bob.b"}`)
	env.wantAnswer(env.do("GET", "/orgs/org_acme/members", ""), 200, `{"data":[`+ada+`,`+bob+`],"next":"1767312000000.mem_2","hasMore":false}`)
}
