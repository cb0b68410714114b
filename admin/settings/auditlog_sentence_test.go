package settings

import (
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// Every action that package store writes has a sentence.
func TestEveryActionHasASentence(t *testing.T) {
	files, err := filepath.Glob("../../store/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	audits := regexp.MustCompile(`auditBy\(|auditAndEmit\(|AuditAccount\(|\baction\b|[aA]udit[A-Z]\w* *= |Event[A-Z]\w* *= `)
	action := regexp.MustCompile(`"([a-z]\w+\.[a-z]\w+)"`)
	found := 0
	for _, file := range files {
		for line := range strings.Lines(kit.ReadText(t, file)) {
			m := action.FindStringSubmatch(line)
			if m == nil || strings.HasSuffix(file, "_test.go") || !audits.MatchString(line) || m[1] == store.EventWebhookTest {
				continue
			}
			if found++; sentences[m[1]].before == "" {
				t.Errorf("%s has no sentence", m[1])
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d actions were found", found)
	}
}

// Entries name people and things, with links to those that are still there, and
// times in the reader's zone, which Since and Until take.
func TestAuditSentences(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	w.endpoint("whe_1", "member.added")
	w.Update(func(tx store.Tx) error {
		if _, err := store.AddMember(tx, "usr_alan", store.Member{OrgID: "org_acme", UserID: "usr_new", Role: "member", Name: "Nina <b>"}); err != nil {
			return err
		}
		for _, e := range []store.AuditEntry{
			{Action: "endpoint.disabled", TargetID: "whe_1"},
			{Action: "endpoint.removed", TargetID: "whe_gone", ActorID: "usr_gone"},
			{Action: "door.opened", TargetID: "door_1", ActorID: "usr_ada"},
			{Action: "passkey.removed", TargetID: "usr_alan", ActorID: "usr_alan"},
		} {
			e.OrgID = "org_acme"
			if _, err := store.AppendAudit(tx, e); err != nil {
				return err
			}
		}
		return nil
	})
	page := b.get(auditPath)
	page.wants(t, 200, "disabled the endpoint <a class=\"strong\" href=\"/settings/orgs/org_acme/endpoints/whe_1\"", ", which did not acknowledge",
		`deleted the endpoint <bdi class="strong" title="whe_gone">whe_gone</bdi>`, `door.opened <bdi class="strong" title="door_1">`,
		"added the member <a class=\"strong\" href=\"/settings/orgs/org_acme/members/usr_new\"", "<bdi>Nina &lt;b&gt;</bdi>", `title="usr_alan"><bdi>Alan</bdi>`, "removed a passkey<",
		`<bdi>System</bdi>`, "Times in UTC")
	b.get(auditPath+"?actor=System").wants(t, 200, "did not acknowledge")
	b.get(auditPath+"?target=whe_gone").wants(t, 200, "deleted the endpoint")
}

func TestAuditLogInTheReadersZone(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	w.Update(func(tx store.Tx) error {
		_, err := store.AppendAudit(tx, store.AuditEntry{OrgID: "org_acme", Action: "door.opened"})
		return err
	})
	u, _ := url.Parse(b.server.URL + Path)
	b.client.Jar.SetCookies(u, []*http.Cookie{{Name: zoneCookie, Value: "Asia/Tokyo", Path: Path, Secure: true}})
	page := b.get(auditPath)
	page.wants(t, 200, "Times in Asia/Tokyo (UTC&#43;9)", `data-tz="Asia/Tokyo"`, ">21:00:00</time>")
	for _, shown := range []string{"21:00:00", "6 Oct 21:00:00", "2026-10-06T21:00:00"} {
		query := url.Values{"since": {shown}, "until": {shown}}.Encode()
		b.get(auditPath+"?"+query).wants(t, 200, "door.opened", ">21:00:00</time>")
	}
	b.get(auditPath+"?since=21:00:01").wants(t, 200, "No entries match")
	b.get(auditPath+"?until=20:59:59").wants(t, 200, "No entries match")
}
