package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// On a terminal the first owner's link is printed, and nowhere else.
func TestFirstLinkOnATerminal(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready.json")
	p := &process{t: t, out: newOutput()}
	screen, log := newOutput(), p.out
	p.cmd = exec.Command(binary, "serve", "--data", filepath.Join(t.TempDir(), "teamdata.db"), "--listen", "127.0.0.1:0",
		"--ready-file", ready, "--seed", mailSeed(t, "https://receiver.example/hook"))
	p.cmd.Stdout, p.cmd.Stderr = openTerminal(t, screen), log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	p.awaitReady(ready)
	p.await("the link", func() bool { return linkPattern.MatchString(screen.String()) })
	p.signsInBy(linkPattern.FindString(screen.String()))
	if err := p.stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if linkPattern.MatchString(log.String()) {
		t.Errorf("the log holds the link:\n%s", log)
	}
}
