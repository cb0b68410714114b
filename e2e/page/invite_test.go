package page_test

import (
	"net/url"
	"path/filepath"
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
	nina.post(program.LinkPath(mail.Text), url.Values{"password": {storyPassword}, "again": {storyPassword}})
	nina.wants(nina.page(acme+"/members"), "Nina Rossi", "Ada")
	if page := nina.page(acme + "/members"); strings.Contains(page, "Invite member") {
		t.Errorf("a viewer may invite:\n%s", page)
	}
	ada.wants(ada.page(at), "Has an account")
	p.StopWell()
}
