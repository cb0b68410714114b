package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// checkHealth runs the command and holds it to one line and its end: 0 and no
// fault where want is empty, else 1.
func checkHealth(t *testing.T, want string, args ...string) {
	t.Helper()
	exit := 1
	if want == "" {
		exit, want = 0, "ready"
	}
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
	checkHealth(t, "no server listens on "+data+".sock", "--data", data)
	p := serveProcess(t, data, "--socket", socket)
	checkHealth(t, "", "--socket", socket)
	checkHealth(t, "", "--url", p.url, "--ca-file", p.caFile)
	checkHealth(t, "not trusted", "--url", p.url)
	checkHealth(t, "no server listens on "+data+".sock", "--data", data)
	checkHealth(t, "is not the URL of a server", "--url", "here")
	checkHealth(t, "is it a teamdata server?", "--url", p.url+"/api", "--ca-file", p.caFile)

	// As in a container: the environment of serve says where.
	t.Setenv("TEAMDATA_DATA", data)
	t.Setenv("TEAMDATA_SOCKET", socket)
	checkHealth(t, "")

	// One that is there and hangs is no healthy one.
	p.cmd.Process.Signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("it does not stop: %v", err)
	}
	checkHealth(t, "does not answer", "--timeout", "300ms")
	p.cmd.Process.Signal(syscall.SIGCONT)
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	checkHealth(t, "no server listens")
}
