package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// On a terminal a table is cut to its width, and nothing in it is a command for
// the terminal.
func TestTableOnATerminal(t *testing.T) {
	data := filepath.Join(t.TempDir(), "teamdata.db")
	for _, args := range [][]string{
		{"org", "create", "--name", "Acme", "--data", data},
		{"member", "add", "usr_ada", "--role", "owner", "--name", "\x1b[2J" + strings.Repeat("Ada ", 40), "--data", data},
	} {
		if out, err := run(t, args...); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	out := newOutput()
	cmd := exec.Command(binary, "member", "list", "--data", data)
	cmd.Stdout, cmd.Stderr = openTerminal(t, out), os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, out: out}
	p.await("the table", func() bool { return strings.Count(out.String(), "\n") == 2 })
	if text := out.String(); strings.Contains(text, "\x1b") || !strings.Contains(text, `\u001b[2J`) {
		t.Errorf("it printed %q", text)
	}
	for _, line := range out.lines() {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("a line has %d columns: %s", n, line)
		}
	}
}
