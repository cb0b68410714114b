package app_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"teamdata/internal/testkit"
)

// On a terminal the first owner's link is printed, and nowhere else.
func TestFirstLinkOnATerminal(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready.json")
	p := &testkit.Process{T: t, Out: testkit.NewOutput()}
	screen, log := testkit.NewOutput(), p.Out
	p.Cmd = exec.Command(testkit.Binary, "serve", "--data", filepath.Join(t.TempDir(), "teamdata.db"), "--listen", "127.0.0.1:0",
		"--ready-file", ready, "--seed", mailSeed(t, "https://receiver.example/hook"))
	p.Cmd.Stdout, p.Cmd.Stderr = testkit.OpenTerminal(t, screen), log
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	p.AwaitReady(ready)
	p.Await("the link", func() bool { return testkit.LinkPattern.MatchString(screen.String()) })
	testkit.SignInBy(p, testkit.LinkPattern.FindString(screen.String()))
	if err := p.Stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if testkit.LinkPattern.MatchString(log.String()) {
		t.Errorf("the log holds the link:\n%s", log)
	}
}
