package terminal

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A shell reads a quoted word as the text that it was.
func TestShellWord(t *testing.T) {
	for _, text := range []string{"plain", "/a/b.c", "two words", "it's", "$HOME", "`id`", `a\b`, "a\nb", "*", "~", "é", "#", "a;b", "-x", "a=b", `"`} {
		word := ShellWord(text)
		out, err := exec.Command("sh", "-c", "printf %s/ "+word).Output()
		if err != nil || string(out) != text+"/" {
			t.Errorf("%q is quoted as %s, which the shell reads as %q, %v", text, word, out, err)
		}
	}
	if word := ShellWord("https://127.0.0.1:8443/a_b%20c"); strings.Contains(word, "'") {
		t.Errorf("%s needs no quotes", word)
	}
}

// Without a person to ask, only --yes goes on, and nothing is printed.
func TestConfirmWithoutATerminal(t *testing.T) {
	pipe, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	io.WriteString(w, "yes\n")
	w.Close()
	for name, in := range map[string]io.Reader{"a pipe": pipe, "no file": strings.NewReader("yes\n")} {
		var out bytes.Buffer
		if err := Confirm(in, &out, true, "This deletes all"); err != nil {
			t.Errorf("%s, with --yes: %v", name, err)
		}
		if err := Confirm(in, &out, false, "This deletes all"); err == nil || !strings.HasPrefix(err.Error(), "This deletes all; add --yes") {
			t.Errorf("%s: %v", name, err)
		}
		if out.Len() > 0 {
			t.Errorf("%s: it printed %q", name, &out)
		}
	}
}

// What is no terminal has no width and no progress line.
func TestNoTerminal(t *testing.T) {
	var out bytes.Buffer
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if Width(&out) != 0 || Width(file) != 0 {
		t.Error("they have a width")
	}
	p := StartProgress(file, "copying")
	p.Report(1, 2)
	p.Describe("half of it")
	p.Stop()
	if info, err := file.Stat(); err != nil || info.Size() > 0 {
		t.Errorf("a progress line of %d bytes was written to a file", info.Size())
	}
}

// The line says how far the work is, or how long it takes.
func TestProgressLine(t *testing.T) {
	p := &Progress{}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "1m5s"},
		{func() { p.Report(0, 0) }, "0%"},
		{func() { p.Report(1, 3) }, "33%"},
		{func() { p.Describe("7 members") }, "7 members"},
	} {
		if step.do(); p.far(65e9) != step.want {
			t.Errorf("the line says %q, not %q", p.far(65e9), step.want)
		}
	}
}
