package page_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// On a terminal the first owner's link is printed, and nowhere else.
func TestFirstLinkOnATerminal(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready.json")
	screen := kit.NewOutput()
	cmd := exec.Command(program.Binary(t), "serve", "--data", filepath.Join(t.TempDir(), "teamdata.db"), "--listen", "127.0.0.1:0",
		"--ready-file", ready, "--seed", program.MailSeed(t, "https://receiver.example/hook"))
	cmd.Stdout = program.OpenTerminal(t, screen)
	p := program.Begin(t, cmd)
	p.AwaitReady(ready)
	p.Await("the link", func() bool { return program.LinkPattern.MatchString(screen.String()) })
	program.SignInBy(p, program.LinkPattern.FindString(screen.String()))
	p.StopWell()
	if program.LinkPattern.MatchString(p.Out.String()) {
		t.Errorf("the log holds the link:\n%s", p.Out)
	}
}
