package page_test

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// A link that somebody asks for by mail waits for the mail server, which puts it
// off at first, and works when it is there. Neither the file nor the log ever
// holds one.
func TestSignInByMail(t *testing.T) {
	box := program.OpenPostbox(t)
	t.Setenv("TEAMDATA_SMTP_URL", box.URL)
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := program.Serve(t, data, "--smtp-ca", box.CAFile, "--mail-from", "teamdata@acme.example", "--mail-retry-schedule", "10ms",
		"--seed", program.MailSeed(t, "https://receiver.example/hook"))
	if out, err := program.Run(t, "signin-link", "usr_ada", "--mail", "--data", data); err != nil || !strings.Contains(out, "ada@acme.example") {
		t.Fatalf("%v\n%s", err, out)
	}
	first := program.LinkPattern.FindString(box.Next(t).Text)
	program.SignInBy(p, first)

	page := program.Open(p, program.Browser(p), p.URL+"/settings/forgot", url.Values{"name": {"ADA@acme.example"}})
	if !strings.Contains(page, "If there is an account") {
		t.Errorf("it is answered\n%s", page)
	}
	second := program.LinkPattern.FindString(box.Next(t).Text)
	program.SignInBy(p, second)
	if first == second || !strings.HasPrefix(second, strings.Replace(p.URL, "127.0.0.1", "localhost", 1)+"/") {
		t.Errorf("the links are %s and %s", first, second)
	}
	p.StopWell()
	content := kit.ReadText(t, data)
	for _, link := range []string{first, second} {
		_, secret, _ := strings.Cut(link, "/link/")
		_, secret, _ = strings.Cut(secret, ".")
		if out := p.Out.String(); secret == "" || strings.Contains(out, secret) || strings.Contains(content, secret) {
			t.Errorf("the log or the file holds the link's secret %q:\n%s", secret, out)
		}
	}
}

// Where no terminal is, the log has the command that makes the first link, and no
// link; it works as it stands.
func TestFirstLinkInTheLog(t *testing.T) {
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := program.Serve(t, data, "--seed", program.MailSeed(t, "https://receiver.example/hook"))
	p.Says("nobody can sign in to the settings page yet")
	command := regexp.MustCompile(`"command":"teamdata ([^"]*)"`).FindStringSubmatch(p.Out.String())
	if command == nil || program.LinkPattern.MatchString(p.Out.String()) {
		t.Fatalf("the log is\n%s", p.Out)
	}
	out := program.MustRun(t, strings.Fields(command[1])...)
	program.SignInBy(p, program.LinkPattern.FindString(out))
	p.StopWell()
	again := program.Serve(t, data)
	again.Says("serving")
	if err := again.Stop(); err != nil || strings.Contains(again.Out.String(), "nobody can sign in") {
		t.Errorf("it ended with %v, and said\n%s", err, again.Out)
	}
}
