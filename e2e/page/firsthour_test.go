package page_test

import (
	"crypto/tls"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// The steps of the first hour are ticked on the page that is open, whoever does them, and
// a step that was unfolded stays so.
func TestSettingsFirstHour(t *testing.T) {
	t.Parallel()
	h := newStoryReceiver(t)
	close(h.gate)
	b := openStory(t, "--allow-endpoint-cidr", "127.0.0.1/32", "--webhook-ca", h.caFile)
	b.signInFirst()
	b.open(acme)
	b.sees("0 of 5 done")
	came := b.document()
	b.click("5 Make your first call with the key in TEAMDATA_KEY")
	b.sees("Authorization: Bearer $TEAMDATA_KEY")

	b.teamdata("endpoint", "create", "--id", "whe_1", "--url", h.URL+"/hook", "--events", "*", "--secret-file", kit.NewFile(t, "secret", storySecret))
	b.sees("1 of 5 done")
	b.teamdata("endpoint", "test", "whe_1", "--type", "member.added")
	b.sees("2 of 5 done")
	b.sees("204 No Content after")
	b.teamdata("key", "create", "--scopes", "read", "--created-by", "usr_ada")
	b.sees("3 of 5 done")
	b.sees("Authorization: Bearer $TEAMDATA_KEY")
	if b.document() != came {
		t.Error("the page was loaded again")
	}
	b.follow("hide it now")
	if text := b.text(); strings.Contains(text, "First hour") || !strings.Contains(text, "Needs attention") && !strings.Contains(text, "Success") {
		t.Errorf("the overview is\n%s", text)
	}
}

// The demo's steps are done to the end on the page, without a terminal. The list goes away
// with the last.
func TestDemoFirstHour(t *testing.T) {
	t.Parallel()
	p := program.Begin(t, exec.Command(program.Binary(t), "serve", "--demo"))
	p.Says("Webhooks library:")
	base, link, _ := strings.Cut(regexp.MustCompile(`https?://\S+/settings/link/\S+`).FindString(p.Out.String()), "/settings/")
	var trusted []string
	if host, secure := strings.CutPrefix(base, "https://"); secure {
		conn, err := tls.Dial("tcp", host, &tls.Config{InsecureSkipVerify: true}) // Chromium is told to trust what is there
		kit.Must(t, err)
		trusted = append(trusted, keyHashOf(conn.ConnectionState().PeerCertificates[0]))
		conn.Close()
	}
	b := &tab{Process: p, t: t, ctx: startChromium(t, trusted...), base: base}
	b.listen()
	b.open("/settings/" + link)
	b.fill("New password", storyPassword)
	b.follow("Set password and sign in")
	b.sees("2 of 5 done")
	b.follow("Send a test")
	b.follow("Send test")
	b.sees("webhook.test arrived.")
	b.follow("Check its signature")
	b.follow("Check")
	b.open(acme)
	b.sees("4 of 5 done")
	b.follow("create a key")
	b.fill("Name", "from the browser")
	b.follow("Create key")
	b.click("Make this call from here")
	b.sees("Status 200")
	b.sees(`"usr_ada"`)
	b.await("the last step", func() bool {
		b.open(acme)
		return !strings.Contains(b.text(), "First hour")
	})
	if text := b.text(); strings.Contains(text, "First hour") || !strings.Contains(text, "Success") {
		t.Errorf("the overview is\n%s", text)
	}
}

// teamdata runs a command on the tab's server.
func (b *tab) teamdata(args ...string) {
	b.t.Helper()
	args = append(args, "--org", "org_acme")
	program.MustRun(b.t, append(args, b.on...)...)
}

// The samples change without scripts, and one of them is shown at a time: first its function
// verify, then the program around it.
func TestSettingsSamples(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	b := openStory(t, "--allow-endpoint-cidr", "127.0.0.1/32")
	b.noScripts()
	b.signInFirst()
	b.teamdata("endpoint", "create", "--id", "whe_1", "--url", "https://127.0.0.1:1/hook", "--events", "*")
	b.open(acme + "/endpoints/whe_1/setup")
	for _, s := range []struct{ language, verify, whole string }{
		{"Go", "func verify(", "package main"}, {"Node", "function verify(", `from "standardwebhooks"`}, {"Python", "def verify(", "import base64"},
		{"Ruby", "def verify(", `require "openssl"`}, {"Shell", "set -euf", ""},
	} {
		b.click(s.language)
		b.awaitCode(s.language, s.verify, 1)
		if s.whole != "" {
			b.click("The whole program")
			b.awaitCode(s.language, s.whole, 2)
		}
	}
}

// awaitCode waits until the page shows so many blocks of a sample, of which the first begins
// with a text, or the last contains it.
func (b *tab) awaitCode(language, text string, blocks int) {
	b.t.Helper()
	b.await("the sample in "+language, func() bool {
		shown, _ := evaluate[[]string](b, `() => [...document.querySelectorAll(".sample pre")].filter((el) => el.checkVisibility()).map((el) => el.textContent)`)
		return len(shown) == blocks && (blocks == 1 && strings.HasPrefix(shown[0], text) || blocks == 2 && strings.Contains(shown[1], text))
	})
}
