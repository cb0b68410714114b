package page_test

import (
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"teamdata/e2e/kit/program"
)

// Somebody who is invited on the settings page gets a mail, signs in by its link, and
// sees the org with the role that was chosen.
func TestInviteByMail(t *testing.T) {
	box := program.OpenPostbox(t)
	t.Setenv("TEAMDATA_SMTP_URL", box.URL)
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := program.Serve(t, data, "--smtp-ca", box.CAFile, "--mail-from", "teamdata@acme.example", "--mail-retry-schedule", "10ms",
		"--seed", program.MailSeed(t, "https://receiver.example/hook"))
	ada := signIn(p, data, "usr_ada")
	at, body := ada.post(acme+"/new-member", url.Values{"email": {"nina@acme.example"}, "name": {"Nina Rossi"}, "role": {"viewer"}})
	ada.wants(body, "The invitation is sent by mail.", "Nina Rossi", "Invited, and not signed in yet.")
	mail := box.Next(t)
	if to := box.Recipients(); !slices.Equal(to, []string{"nina@acme.example"}) || !strings.Contains(mail.Text, "settings of Acme") {
		t.Errorf("the mail goes to %v:\n%s", to, mail.Text)
	}
	nina := &formClient{p, program.Browser(p)}
	nina.post(program.LinkPath(mail.Text), url.Values{"password": {storyPassword}})
	nina.wants(nina.page(acme+"/members"), "Nina Rossi", "Ada")
	if page := nina.page(acme + "/members"); strings.Contains(page, "Invite member") {
		t.Errorf("a viewer may invite:\n%s", page)
	}
	ada.wants(ada.page(at), "Has an account")
	p.StopWell()
}

// Without a mail server the link is shown. Whoever gets it chooses a password, and from then
// on signs in with the name or with the address. The command line shows the name.
func TestInviteByLink(t *testing.T) {
	t.Parallel()
	b := openStory(t)
	b.signInFirst()
	b.open(acme + "/new-member")
	b.fill("E-mail address", "Nina.Rossi+1@acme.example")
	b.fill("Name", "Nina Rossi")
	if name := b.value("signInName"); name != "Nina.Rossi1" {
		t.Errorf("the name is %q", name)
	}
	b.fill("Sign-in name", "nina")
	b.fill("E-mail address", "nina.rossi@acme.example")
	if name := b.value("signInName"); name != "nina" {
		t.Errorf("what was typed became %q", name)
	}
	b.follow("Invite and show the link")
	b.sees("Nina Rossi is invited")
	b.sees("Your sign-in name is nina.")
	link := strings.TrimPrefix(program.LinkPattern.FindString(b.text()), b.base)
	b.signOut()
	onServer := func(args ...string) string {
		return program.MustRun(t, slices.Concat(args, []string{"--org", "org_acme"}, b.on)...)
	}
	users := strings.Fields(onServer("member", "list", "--quiet"))
	if shown := onServer("member", "show", users[len(users)-1]); !regexp.MustCompile(`(?m)^signInName: +nina$`).MatchString(shown) {
		t.Errorf("the command line shows\n%s", shown)
	}

	b.open(link)
	b.sees("Welcome to Acme")
	if name := b.value("name"); name != "nina" {
		t.Errorf("a password manager keeps it under %q", name)
	}
	b.fill("New password", storyPassword)
	b.follow("Set password and sign in")
	b.sees("Your password is set, and you are signed in. Add a passkey to sign in without it.")
	b.sees("First hour")
	if !strings.HasPrefix(b.path(), acme+"?") {
		t.Errorf("the first page is %s", b.path())
	}
	b.follow("Add a passkey")
	b.sees("Passkey name")
	for _, name := range []string{"Nina", "nina.rossi@acme.example"} {
		b.signOut()
		b.fill("Sign-in name or e-mail address", name)
		b.fill("Password", storyPassword)
		b.follow("Sign in")
		b.sees("First hour")
		b.sees("Nina Rossi")
	}
}

// value is what the field of a name holds.
func (b *tab) value(name string) string {
	b.t.Helper()
	value, _ := evaluate[string](b, `(name) => document.querySelector("main [name=" + name + "]").value`, name)
	return value
}
