//go:build unix

package command

import (
	"path/filepath"
	"syscall"
	"testing"

	"teamdata/e2e/kit/program"
)

// checkHealth runs the command, which is to find a fault, or none where want is empty.
func checkHealth(t *testing.T, want string, args ...string) {
	t.Helper()
	args = append([]string{"healthcheck"}, args...)
	if want != "" {
		program.Refused(t, exitFailed, want, args...)
	} else if out := program.MustRun(t, args...); out != "ready\n" {
		t.Errorf("teamdata %v said %s", args, out)
	}
}

func TestHealthcheck(t *testing.T) {
	folder := t.TempDir()
	data, socket := filepath.Join(folder, "a.db"), filepath.Join(folder, "s")
	checkHealth(t, "no server listens on "+data+".sock", "--data", data)
	p := program.Serve(t, data, "--socket", socket)
	checkHealth(t, "", "--socket", socket)
	checkHealth(t, "", "--url", p.URL, "--ca-file", p.CAFile)
	checkHealth(t, "not trusted", "--url", p.URL)
	checkHealth(t, "no server listens on "+data+".sock", "--data", data)
	checkHealth(t, "is not the URL of a server", "--url", "here")
	checkHealth(t, "is it a teamdata server?", "--url", p.URL+"/api", "--ca-file", p.CAFile)

	// As in a container: the environment of serve says where.
	t.Setenv("TEAMDATA_DATA", data)
	t.Setenv("TEAMDATA_SOCKET", socket)
	checkHealth(t, "")

	// One that is there and hangs is no healthy one.
	p.Cmd.Process.Signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(p.Cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("it does not stop: %v", err)
	}
	checkHealth(t, "no answer from the server", "--timeout", "300ms")
	p.Cmd.Process.Signal(syscall.SIGCONT)
	p.StopWell()
	checkHealth(t, "no server listens")
}
