package bench_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/cli/bench"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// Whatever it does at that moment, it stops at once, and leaves neither files
// nor processes.
func TestCancel(t *testing.T) {
	t.Parallel()
	for only, said := range map[string]string{
		"sync": "sync", "accept": "round 1", "after-deletions": "storing", "deliver": "round 1", "latency": "round 1", "pages": "round 1",
	} {
		t.Run(only, func(t *testing.T) {
			if only != "sync" && only != "deliver" { // which have everything that the others have
				kit.NotEveryDay(t)
			}
			c := tiny(t)
			c.Only = []string{only}
			c.Events, c.Duration = 1_000_000, time.Minute // it would take long
			ctx, cancel := context.WithCancel(t.Context())
			heard := &whenSaid{text: said, then: cancel}
			c.Progress = func(step string) { io.WriteString(heard, step) }
			if _, err := bench.Run(ctx, c); !errors.Is(err, context.Canceled) {
				t.Errorf("it ended with %v", err)
			}
			isEmpty(t, c.Dir)
			if left := processes(t, c.Dir); len(left) > 0 {
				t.Errorf("processes are left: %q", left)
			}
		})
	}
}

// processes are the command lines of running processes that name a folder.
func processes(t *testing.T, folder string) (found []string) {
	if runtime.GOOS != "linux" {
		return nil // the folder, which is gone, has to do
	}
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		line, _ := os.ReadFile(file) // it may have ended
		if bytes.Contains(line, []byte(folder)) {
			found = append(found, string(line))
		}
	}
	return found
}

// An interrupt ends the command, which says so in one line.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has no interrupt to send")
	}
	folder := t.TempDir()
	cmd := exec.Command(program.Binary(t), "bench", "--only", "deliver", "--dir", folder, "--events", "1000000")
	said := &whenSaid{text: "measuring", then: func() { cmd.Process.Signal(os.Interrupt) }}
	cmd.Stderr = said
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %v", err)
	}
	if !strings.HasSuffix(string(said.said), "\nteamdata: stopped before the end; nothing is left behind\n") {
		t.Errorf("it said %s", said.said)
	}
	isEmpty(t, folder)
}

// The command prints one JSON document, and nothing else, to its output.
func TestCommand(t *testing.T) {
	out, err := exec.Command(program.Binary(t), "bench", "--only", "sync", "--json", "--rounds", "1", "--duration", "10ms", "--dir", t.TempDir()).Output()
	if err != nil || !bytes.HasPrefix(out, []byte("{\n")) || !bytes.HasSuffix(out, []byte("}\n")) {
		t.Errorf("it printed %s (%v)", out, err)
	}
	out, err = exec.Command(program.Binary(t), "bench", "--list").Output()
	listed := func(m bench.Measurement) bool { return strings.Contains("\n"+string(out), "\n"+m.Name+" ") }
	if i := slices.IndexFunc(bench.Measurements(), func(m bench.Measurement) bool { return !listed(m) }); err != nil || i >= 0 {
		t.Errorf("--list printed %s (%v)", out, err)
	}
}
