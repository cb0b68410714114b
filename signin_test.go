package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var linkPattern = regexp.MustCompile(`https://\S+/settings/link/sil_[0-9A-Z]+\.[0-9A-Za-z]+`)

// visitor is a person with a browser of their own.
func (p *process) visitor() *http.Client {
	p.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	client := *p.client
	client.Jar = jar
	return &client
}

// opens asks for a page, or sends it a form, and returns the page that comes of it.
func (p *process) opens(client *http.Client, link string, form url.Values) string {
	p.t.Helper()
	r, err := client.Get(link)
	if form != nil {
		r.Body.Close()
		r, err = client.PostForm(link, form)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %v\n%s", r.Status, err, body)
	}
	return string(body)
}

// signsInBy chooses a password with a link.
func (p *process) signsInBy(link string) {
	p.t.Helper()
	v := p.visitor()
	if page := p.opens(v, link, nil); !strings.Contains(page, "Choose a password") {
		p.t.Errorf("the link leads to\n%s", page)
	}
	p.opens(v, link, url.Values{"password": {"several words of mine"}, "again": {"several words of mine"}})
	if page := p.opens(v, p.url+"/settings/account", nil); !strings.Contains(page, "usr_ada") {
		p.t.Errorf("the account's page is\n%s", page)
	}
}

// A link that somebody asks for by mail waits for the mail server, which puts it
// off at first, and works when it is there. Neither the file nor the log ever
// holds one.
func TestSignInByMail(t *testing.T) {
	box := openPostbox(t)
	t.Setenv("TEAMDATA_SMTP_URL", box.url)
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := serveProcess(t, data, "--smtp-ca", box.caFile, "--mail-from", "teamdata@acme.example", "--mail-retry-schedule", "10ms",
		"--seed", mailSeed(t, "https://receiver.example/hook"))
	if out, err := run(t, "signin-link", "usr_ada", "--mail", "--data", data); err != nil || !strings.Contains(out, "ada@acme.example") {
		t.Fatalf("%v\n%s", err, out)
	}
	box.next(t)
	first := linkPattern.FindString(box.text(t))
	p.signsInBy(first)

	page := p.opens(p.visitor(), p.url+"/settings/forgot", url.Values{"name": {"ADA@acme.example"}})
	if !strings.Contains(page, "If there is an account") {
		t.Errorf("it is answered\n%s", page)
	}
	box.next(t)
	second := linkPattern.FindString(box.text(t))
	p.signsInBy(second)
	if first == second || !strings.HasPrefix(second, p.url) {
		t.Errorf("the links are %s and %s", first, second)
	}
	if err := p.stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	content, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{first, second} {
		_, secret, _ := strings.Cut(link, "/link/")
		_, secret, _ = strings.Cut(secret, ".")
		if out := p.out.String(); secret == "" || strings.Contains(out, secret) || strings.Contains(string(content), secret) {
			t.Errorf("the log or the file holds the link's secret %q:\n%s", secret, out)
		}
	}
}

// Where no terminal is, the log has the command that makes the first link, and no
// link; it works as it stands.
func TestFirstLinkInTheLog(t *testing.T) {
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := serveProcess(t, data, "--seed", mailSeed(t, "https://receiver.example/hook"))
	p.says("nobody can sign in to the settings page yet")
	command := regexp.MustCompile(`"command":"teamdata ([^"]*)"`).FindStringSubmatch(p.out.String())
	if command == nil || linkPattern.MatchString(p.out.String()) {
		t.Fatalf("the log is\n%s", p.out)
	}
	out, err := run(t, strings.Fields(command[1])...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.signsInBy(linkPattern.FindString(out))
	if err := p.stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	again := serveProcess(t, data)
	again.says("serving")
	if err := again.stop(); err != nil || strings.Contains(again.out.String(), "nobody can sign in") {
		t.Errorf("it ended with %v, and said\n%s", err, again.out)
	}
}
