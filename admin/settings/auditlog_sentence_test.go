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
	w.endpoint("whe_2", "member.added")
	w.Update(func(tx store.Tx) error {
		e, err := store.FindEndpoint(tx, "org_acme", "whe_1")
		if err != nil {
			return err
		}
		e.DisabledAt, e.DisabledReason = tx.Now(), "6 failed attempts: connection refused"
		if err := tx.PutEndpoint(e); err != nil {
			return err
		}
		if err := store.DisableEndpoint(tx, "", "org_acme", "whe_2"); err != nil { // an operator, without an actor
			return err
		}
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
	if n := strings.Count(page.Body, "</a>, which acknowledged nothing"); n != 1 {
		t.Errorf("%d endpoints are said to have acknowledged nothing", n)
	}
	page.wants(t, 200, "disabled the endpoint <a class=\"strong\" href=\"/settings/orgs/org_acme/endpoints/whe_1\"", ", which acknowledged nothing",
		`deleted the endpoint <bdi class="strong" title="whe_gone">whe_gone</bdi>`, `door.opened <bdi class="strong" title="door_1">`,
		"added the member <a class=\"strong\" href=\"/settings/orgs/org_acme/members/usr_new\"", "<bdi>Nina &lt;b&gt;</bdi>", `title="usr_alan"><bdi>Alan</bdi>`, "removed a passkey<",
		`<bdi>System</bdi>`, "Times in UTC")
	b.get(auditPath+"?actor=System").wants(t, 200, "acknowledged nothing")
	b.get(auditPath+"?target=whe_gone").wants(t, 200, "deleted the endpoint")
}

// Members, people and files are shown by their names, with the ids in titles. Where no name
// is known, the sentence says what it was.
func TestAuditSentencesNameThings(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	w.endpoint("whe_1", "file.uploaded")
	sent := w.test("whe_1").ID
	w.Update(func(tx store.Tx) error {
		_, err := store.ImportMember(tx, store.Member{OrgID: "org_acme", ID: "mem_of_an_import", UserID: "usr_bo", Role: "member", Name: "Bo"})
		if err == nil {
			_, err = store.AddMember(tx, "usr_ada", store.Member{OrgID: "org_acme", UserID: "usr_left", Role: "member", Name: "Lee"})
		}
		if err == nil {
			err = store.RemoveMember(tx, "usr_left", "org_acme", "usr_left")
		}
		if err == nil {
			_, err = store.UploadFile(tx, "usr_bo", store.File{OrgID: "org_acme", ID: "fil_kept", Name: "Budget <2027>.xlsx", ContentType: "b"})
		}
		for _, e := range []store.AuditEntry{
			{Action: "member.roleChanged", TargetID: "mem_of_an_import"},
			{Action: "file.uploaded", TargetID: "fil_unknown"},
			{Action: "delivery.replayed", TargetID: "whd_gone"},
			{Action: "delivery.replayed", TargetID: sent},
		} {
			e.OrgID = "org_acme"
			if err == nil {
				_, err = store.AppendAudit(tx, e)
			}
		}
		return err
	})
	page := b.get(auditPath)
	page.wants(t, 200, `changed the role of <a class="strong" href="/settings/orgs/org_acme/members/usr_bo" title="mem_of_an_import"><bdi>Bo</bdi>`,
		`uploaded the file <a class="strong" href="/settings/orgs/org_acme/events/evt_`, `title="fil_kept"><bdi>Budget &lt;2027&gt;.xlsx</bdi>`,
		`uploaded <bdi class="strong" title="fil_unknown">a file</bdi>`, `added <bdi class="strong" title="mem_`, `removed <bdi class="strong" title="mem_`,
		`title="usr_left"><bdi>Former member</bdi>`, `replayed <bdi class="strong" title="whd_gone">a delivery</bdi>`, "replayed the delivery of <a", "<bdi>webhook.test</bdi>")
	for _, id := range []string{">mem_", ">fil_", ">usr_", ">whd_"} {
		if strings.Contains(page.Body, id) {
			t.Errorf("the page shows an id: %s", id)
		}
	}
	b.get(auditPath+"?target=bo").wants(t, 200, "changed the role of <a")
	b.get(auditPath+"?target=lee").wants(t, 200, "No entries match")
	b.get("/orgs").wants(t, 200, `<span class="cut strong"><bdi>Ada</bdi></span>`)
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
