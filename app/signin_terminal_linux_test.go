package app_test

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
	p := &program.Process{T: t, Out: kit.NewOutput()}
	screen, log := kit.NewOutput(), p.Out
	p.Cmd = exec.Command(program.Binary(t), "serve", "--data", filepath.Join(t.TempDir(), "teamdata.db"), "--listen", "127.0.0.1:0",
		"--ready-file", ready, "--seed", mailSeed(t, "https://receiver.example/hook"))
	p.Cmd.Stdout, p.Cmd.Stderr = program.OpenTerminal(t, screen), log
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	p.AwaitReady(ready)
	p.Await("the link", func() bool { return program.LinkPattern.MatchString(screen.String()) })
	program.SignInBy(p, program.LinkPattern.FindString(screen.String()))
	if err := p.Stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if program.LinkPattern.MatchString(log.String()) {
		t.Errorf("the log holds the link:\n%s", log)
	}
}
