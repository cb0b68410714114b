//go:build metrics

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// checkHealth runs the command and holds it to one line and its end.
func checkHealth(t *testing.T, exit int, want string, args ...string) {
	t.Helper()
	out, err := run(t, append([]string{"healthcheck"}, args...)...)
	code := 0
	if failed, ok := err.(*exec.ExitError); ok {
		code = failed.ExitCode()
	}
	if code != exit || !strings.Contains(out, want) || strings.Count(out, "\n") != 1 {
		t.Errorf("healthcheck %v ended with %d and said %s", args, code, out)
	}
}

func TestHealthcheck(t *testing.T) {
	folder := t.TempDir()
	data, socket := filepath.Join(folder, "a.db"), filepath.Join(folder, "s")
	checkHealth(t, 1, "no server listens on "+data+".sock", "--data", data)
	p := serveProcess(t, data, "--socket", socket)
	checkHealth(t, 0, "ready", "--socket", socket)
	checkHealth(t, 0, "ready", "--url", p.url, "--ca-file", p.caFile)
	checkHealth(t, 1, "not trusted", "--url", p.url)
	checkHealth(t, 1, "no server listens on "+data+".sock", "--data", data)
	checkHealth(t, 1, "is not the URL of a server", "--url", "here")
	checkHealth(t, 1, "is it a teamdata server?", "--url", p.url+"/api", "--ca-file", p.caFile)

	// As in a container: the environment of serve says where.
	t.Setenv("TEAMDATA_DATA", data)
	t.Setenv("TEAMDATA_SOCKET", socket)
	checkHealth(t, 0, "ready")

	// One that is there and hangs is no healthy one.
	p.cmd.Process.Signal(syscall.SIGSTOP)
	checkHealth(t, 1, "does not answer", "--timeout", "300ms")
	p.cmd.Process.Signal(syscall.SIGCONT)
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	checkHealth(t, 1, "no server listens")
}
