package serve_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// The contract's "disabled: the org's administrators are told by e-mail", over
// real sockets with a short schedule: an endpoint that fails every attempt is
// disabled, and its owners and admins get one mail each from a server that wants
// STARTTLS and AUTH, and that puts each off once.
func TestMailOfADisabledEndpoint(t *testing.T) {
	box := program.OpenPostbox(t)
	url, receiverCA := program.ServeTLS(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no disk left", http.StatusInternalServerError)
	}))
	t.Setenv("TEAMDATA_SMTP_URL_FILE", kit.NewFile(t, "smtp-url", box.URL+"\n"))
	data := filepath.Join(t.TempDir(), "teamdata.db")
	flags := []string{"--retry-schedule", "1ms,1ms,1ms,1ms,1ms", "--webhook-ca", receiverCA, "--allow-endpoint-cidr", "127.0.0.1/32",
		"--smtp-ca", box.CAFile, "--mail-from", "teamdata@acme.example", "--mail-retry-schedule", "10ms", "--public-url", "https://data.acme.example"}
	p := program.Serve(t, data, append(flags, "--seed", program.MailSeed(t, url))...)

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
	p.StopWell()
	if out := p.Out.String(); strings.Contains(out, "s3cr3t") || !strings.Contains(out, "451") {
		t.Errorf("the log shows the password, or not that the server put a mail off:\n%s", out)
	}

	// Nothing is sent twice: not after a restart either.
	program.Serve(t, data, flags...).Stop()
	if n := len(box.Mails()); n > 2 {
		t.Errorf("%d mails came, not 2", n)
	}
}
