package command

import (
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// On a terminal a table is cut to its width, and nothing in it is a command for
// the terminal.
func TestTableOnATerminal(t *testing.T) {
	data := dataFile(t)
	program.MustRun(t, "member", "add", "usr_ada", "--role", "owner", "--name", "\u202e"+strings.Repeat("Ada ", 40), "--data", data)
	out := kit.NewOutput()
	cmd := exec.Command(program.Binary(t), "member", "list", "--data", data)
	cmd.Stdout, cmd.Stderr = program.OpenTerminal(t, out), os.Stderr
	kit.Must(t, cmd.Run())
	p := &program.Process{T: t, Out: out}
	p.Await("the table", func() bool { return strings.Count(out.String(), "\n") == 2 })
	if text := out.String(); strings.Contains(text, "\u202e") || !strings.Contains(text, `\u202e`) {
		t.Errorf("it printed %q", text)
	}
	for _, line := range out.Lines() {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("a line has %d columns: %s", n, line)
		}
	}
}

// A closed terminal stops it, and nothing is left behind.
func TestTerminalIsClosed(t *testing.T) {
	temp := t.TempDir()
	cmd := exec.Command(program.Binary(t), "serve", "--demo", "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	out := kit.NewOutput()
	cmd.Stdout = program.OpenTerminal(t, out)
	hangups := make(chan os.Signal, 1) // what this process ignores, as under nohup, the command would too
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	p := program.Begin(t, cmd)
	p.Await("the tour", func() bool { return strings.Contains(out.String(), "Stop with Ctrl-C") })
	cmd.Process.Signal(syscall.SIGHUP)
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v\n%s", err, out)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}
