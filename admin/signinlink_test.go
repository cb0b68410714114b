package admin

import "testing"

// A server without a mail server doesn't promise a mail; the link itself it still makes.
func TestSignInLinkWithoutMailServer(t *testing.T) {
	env := newTestEnv(t)
	env.admin.config.NoMail = true
	const path = "/orgs/org_acme/members/usr_ada/signin-link"
	commits := env.commits.Load()
	env.wantAnswer(env.do("POST", path, `{"mail":true}`), 409, `{"error":{"code":"conflict","message":"This server has no mail server.",{{*}}`)
	if n := env.commits.Load() - commits; n != 0 {
		t.Errorf("it made %d commits", n)
	}
	env.wantAnswer(env.do("POST", path, ""), 201, `{"id":"{{sil}}",{{*}}`)
}
