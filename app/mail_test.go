package app_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"teamdata/e2e/kit/program"
)

// The contract's "disabled: the org's administrators are told by e-mail", over
// real sockets with a short schedule: an endpoint that fails every attempt is
// disabled, and its owners and admins get one mail each from a server that wants
// STARTTLS and AUTH, and that puts each off once.
func TestMailOfADisabledEndpoint(t *testing.T) {
	box := program.OpenPostbox(t)
	url, receiverCA := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no disk left", http.StatusInternalServerError)
	}))
	secretFile := filepath.Join(t.TempDir(), "smtp-url")
	if err := os.WriteFile(secretFile, []byte(box.URL+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEAMDATA_SMTP_URL_FILE", secretFile)
	data := filepath.Join(t.TempDir(), "teamdata.db")
	flags := []string{"--retry-schedule", "1ms,1ms,1ms,1ms,1ms", "--webhook-ca", receiverCA, "--allow-endpoint-cidr", "127.0.0.1/32",
		"--smtp-ca", box.CAFile, "--mail-from", "teamdata@acme.example", "--mail-retry-schedule", "10ms", "--public-url", "https://data.acme.example"}
	p := program.Serve(t, data, append(flags, "--seed", mailSeed(t, url))...)

	sent := p.Must("POST", "/webhooks/whe_hook/test", program.WriteKey)
	box.Next(t)
	text := box.Next(t).Text
	if to := box.Recipients(); !slices.Equal(to, []string{"ada@acme.example", "bob@acme.example"}) {
		t.Errorf("mail went to %v", to)
	}
	for _, want := range []string{"whe_hook", "500 Internal Server Error", "https://data.acme.example/settings", "webhook.test"} {
		if !strings.Contains(text, want) {
			t.Errorf("the mail lacks %s:\n%s", want, text)
		}
	}
	if again := p.Must("POST", "/webhooks/whe_hook/test", program.WriteKey); again.Status != http.StatusConflict {
		t.Errorf("the disabled endpoint answers a test with %d after %s", again.Status, sent.Body)
	}
	if log := p.Must("GET", "/audit-log", program.ReadKey).Body; !strings.Contains(log, `"actorId":null,"action":"endpoint.disabled","targetId":"whe_hook"`) {
		t.Errorf("the audit log is %s", log)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if out := p.Out.String(); strings.Contains(out, "s3cr3t") || !strings.Contains(out, "451") {
		t.Errorf("the log shows the password, or not that the server put a mail off:\n%s", out)
	}

	// Nothing is sent twice: not after a restart either.
	program.Serve(t, data, flags...).Stop()
	if n := len(box.Mails()); n > 2 {
		t.Errorf("%d mails came, not 2", n)
	}
}

// mailSeed is an org with an owner, an admin, and a member who gets no mail.
func mailSeed(t *testing.T, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "seed.json")
	content := fmt.Sprintf(`{"orgs":[{"id":"org_acme","name":"Acme","members":[
		{"userId":"usr_ada","role":"owner","name":"Ada","email":"ada@acme.example"},
		{"userId":"usr_bob","role":"admin","email":"bob@acme.example"},
		{"userId":"usr_cy","role":"member","email":"cy@acme.example"}],
		"apiKeys":[{"id":"key_write","secret":"example-writer-secret","scopes":["write"],"createdBy":"usr_ada"},
			{"id":"key_read","secret":"example-reader-secret","scopes":["read"],"createdBy":"usr_ada"}],
		"webhooks":[{"id":"whe_hook","url":%q,"events":["webhook.test"]}]}]}`, url)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
