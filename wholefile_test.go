package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBackupAndRestore takes backups of a served and of a resting file, and goes
// back to the first.
func TestBackupAndRestore(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	data := at("teamdata.db")
	p := serveProcess(t, data, "--seed", "testdata/example.json")
	before := p.must("GET", "/members", readKey)
	says(t, 0, []string{"backup", at("served.db"), "--data", data}, at("served.db")+": ", "and sound")
	says(t, 1, []string{"backup", at("served.db"), "--data", data}, "already", "another name")
	says(t, 1, []string{"restore", at("served.db"), "--data", data, "--yes"}, "in use by process")
	says(t, 1, []string{"compact", "--data", data}, "in use by process")
	p.must("POST", "/webhooks/whe_hook/test", writeKey)
	if err := p.stop(); err != nil {
		t.Fatalf("it ended with %v\n%s", err, p.out)
	}

	says(t, 0, []string{"backup", at("resting.db"), "--data", data}, "and sound")
	if n := countDeliveries(t, at("resting.db")) - countDeliveries(t, at("served.db")); n != 1 {
		t.Errorf("between the two backups there is %d delivery", n)
	}
	says(t, 1, []string{"restore", at("served.db"), "--data", data}, "This replaces the data file", "say --yes")
	says(t, 0, []string{"restore", at("served.db"), "--data", data, "--yes"}, "is a copy of", "before-restore-")
	says(t, 0, []string{"check", "--data", data}, "is sound")
	kept, _ := filepath.Glob(data + ".before-restore-*")
	if len(kept) != 1 || countDeliveries(t, kept[0]) != countDeliveries(t, at("resting.db")) {
		t.Errorf("kept are %v", kept)
	}
	p = serveProcess(t, data)
	if again := p.must("GET", "/members", readKey); again.body != before.body {
		t.Errorf("it answers %s, not %s", again.body, before.body)
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	says(t, 0, []string{"compact", "--data", data}, "bytes and has")
	says(t, 0, []string{"check", "--data", data}, "is sound")
}

// says runs the program, which is to end with a status and to say some words.
func says(t *testing.T, status int, args []string, wants ...string) {
	t.Helper()
	out, err := run(t, args...)
	if (err == nil) != (status == 0) {
		t.Errorf("teamdata %v ended with %v\n%s", args, err, out)
	}
	for _, want := range wants {
		if !strings.Contains(out, want) {
			t.Errorf("teamdata %v does not say %q:\n%s", args, want, out)
		}
	}
}

// TestBackupToStdout: what comes out, of a served file or a resting one, is a
// data file; a reader that goes away is told.
func TestBackupToStdout(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, "teamdata.db")
	p := serveProcess(t, data, "--seed", "testdata/example.json")
	for _, name := range []string{"served", "resting"} {
		cmd := exec.Command(binary, "backup", "-", "--data", data)
		cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
		content, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		to := filepath.Join(folder, name)
		writeFile(t, to, string(content))
		says(t, 0, []string{"check", "--data", to}, "is sound")
		p.kill()
	}
	cmd := exec.Command(binary, "backup", "-", "--data", data)
	temp := t.TempDir()
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = writer
	reader.Close()
	if err := cmd.Run(); err == nil {
		t.Error("it has written to nobody")
	}
	writer.Close()
}

// TestBackupRefused: what the server or nobody answers is told in one line.
func TestBackupRefused(t *testing.T) {
	folder := t.TempDir()
	data, to := filepath.Join(folder, "teamdata.db"), filepath.Join(folder, "backup.db")
	p := serveProcess(t, data, "--socket", filepath.Join(folder, "elsewhere.sock"))
	says(t, 1, []string{"backup", to, "--data", data}, "in use by process", "--socket", "nobody listens on "+data+".sock")
	says(t, 0, []string{"backup", to, "--data", data, "--socket", filepath.Join(folder, "elsewhere.sock")}, "and sound")
	p.kill()
	says(t, 1, []string{"backup", to, "--data", filepath.Join(folder, "none.db")}, "already")
	says(t, 1, []string{"backup", to + "2", "--data", filepath.Join(folder, "none.db")}, "is not there", "--data")
	says(t, 1, []string{"restore", filepath.Join(folder, "none.db"), "--data", data, "--yes"}, "none.db is not there")
	says(t, 1, []string{"backup"}, "give the file to write")
}
