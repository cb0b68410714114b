package settings

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// audited are the actions of org_acme's audit log, each with who did it.
func (w *env) audited() string {
	w.Helper()
	w.backgroundDone()
	var all []string
	for _, e := range w.entries() {
		all = append(all, e.ActorID+" "+e.Action+" "+e.TargetID)
	}
	return strings.Join(all, "\n")
}

// Who signs in, who is refused, and who looks at what should stay secret is in the
// audit log. Strangers, who may try as often as they like, get an entry an hour.
func TestWhoLooksIsAudited(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	b := w.newBrowser()
	for range 5 {
		w.newBrowser().signIn("usr_ada", "wrong").wants(t, 401)
		w.newBrowser().signIn("usr_nobody", "wrong").wants(t, 401)
	}
	w.backgroundDone()
	w.Advance(time.Hour)
	w.newBrowser().signIn("ada@acme.example", "wrong").wants(t, 401)
	w.backgroundDone()
	b.signIn("usr_ada", goodPassword).wants(t, 303)
	w.endpoint("whe_1", "member.added")
	b.get("/orgs/org_acme/endpoints/whe_1").wants(t, 200)
	b.get("/orgs/org_acme/endpoints/whe_1/secret").wants(t, 200)
	b.get(exportPath+"csv").wants(t, 200)
	want := `usr_ada account.signedIn usr_ada
 account.signInRefused usr_ada
 account.signInRefused usr_ada
usr_ada account.signedIn usr_ada
usr_ada endpoint.created whe_1
usr_ada endpoint.secretShown whe_1
usr_ada auditLog.exported org_acme`
	if got := w.audited(); got != want {
		t.Errorf("the audit log has\n%s\nand not\n%s", got, want)
	}
}

// A link that anybody can ask for is in the audit log, once an hour.
func TestForgottenIsAudited(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	for range 2 {
		w.newBrowser().post("/forgot", url.Values{"name": {"usr_ada"}}).wants(t, 200)
		w.backgroundDone()
	}
	want := "usr_ada account.signedIn usr_ada\n signInLink.created usr_ada"
	if got := w.audited(); got != want {
		t.Errorf("the audit log has\n%s\nand not\n%s", got, want)
	}
}
