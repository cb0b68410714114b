package page_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// On a terminal the first owner's link is printed, and nowhere else.
func TestFirstLinkOnATerminal(t *testing.T) {
	screen := kit.NewOutput()
	cmd := exec.Command(program.Binary(t), "serve", "--data", filepath.Join(t.TempDir(), "teamdata.db"), "--listen", "127.0.0.1:0",
		"--seed", program.MailSeed(t, "https://receiver.example/hook"))
	cmd.Stdout = program.OpenTerminal(t, screen)
	p := program.BeginServing(t, cmd)
	p.Await("the link", func() bool { return program.LinkPattern.MatchString(screen.String()) })
	local := strings.Replace(p.URL, "127.0.0.1", "localhost", 1)
	for _, want := range []string{"  API        " + local + "/api/v1", "  settings   " + local + "/settings", "  " + local + "/settings/link/"} {
		if !strings.Contains(screen.String(), want) {
			t.Errorf("it prints no %q:\n%s", want, screen)
		}
	}
	program.SignInBy(p, program.LinkPattern.FindString(screen.String()))
	p.StopWell()
	if program.LinkPattern.MatchString(p.Out.String()) {
		t.Errorf("the log holds the link:\n%s", p.Out)
	}
}
