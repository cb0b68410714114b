package page_test

import (
	"os/exec"
	"strings"
	"testing"

	"teamdata/e2e/kit/program"
)

// A newcomer's first minutes: the link that the demo prints opens without a warning in a
// browser that trusts no certificate of ours, and three clicks later a webhook is seen to
// arrive. Passkeys work there.
func TestDemoInABrowser(t *testing.T) {
	t.Parallel()
	b := openDemo(t)
	b.addAuthenticator()
	b.fill("New password", storyPassword)
	b.enter()
	b.follow("Send a test")
	b.follow("Send test")
	b.sees("Acknowledged")
	b.sees("webhook.test arrived.")
	if b.clicks != 3 {
		t.Errorf("it takes %d clicks, not 3", b.clicks)
	}
	b.signInByPasskey()
}

// openDemo opens the link of a new demo in a browser, which is the first click.
func openDemo(t *testing.T) *tab {
	t.Helper()
	p := program.Begin(t, exec.Command(program.Binary(t), "serve", "--demo"))
	p.Says("Webhooks library:")
	link := program.LinkPattern.FindString(p.Out.String())
	base, path, _ := strings.Cut(link, "/settings/")
	if !strings.HasPrefix(base, "http://localhost:") {
		t.Fatalf("the link is %s", link)
	}
	b := &tab{Process: p, t: t, ctx: startChromium(t), base: base, clicks: 1}
	b.listen()
	b.open("/settings/" + path)
	return b
}
