package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// TestBackupAndRestore takes backups of a served and of a resting file, and goes
// back to the first.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	data := at("teamdata.db")
	p := program.Serve(t, data, "--seed", program.Example)
	before := p.Must("GET", "/members", program.ReadKey)
	program.Says(t, 0, []string{"backup", at("served.db"), "--data", data}, at("served.db")+": ", "and sound")
	program.Says(t, 1, []string{"backup", at("served.db"), "--data", data}, "already", "another name")
	program.Says(t, 1, []string{"restore", at("served.db"), "--data", data, "--yes"}, "in use by process")
	program.Says(t, 1, []string{"compact", "--data", data}, "in use by process")
	p.Must("POST", "/webhooks/whe_hook/test", program.WriteKey)
	p.StopWell()

	program.Says(t, 0, []string{"backup", at("resting.db"), "--data", data}, "and sound")
	if n := deliveriesIn(t, at("resting.db")) - deliveriesIn(t, at("served.db")); n != 1 {
		t.Errorf("between the two backups there is %d delivery", n)
	}
	program.Says(t, 1, []string{"restore", at("served.db"), "--data", data}, "This replaces the data file", "add --yes")
	program.Says(t, 0, []string{"restore", at("served.db"), "--data", data, "--yes"}, "is a copy of", "before-restore-")
	program.Says(t, 0, []string{"check", "--data", data}, "is sound")
	kept, _ := filepath.Glob(data + ".before-restore-*")
	if len(kept) != 1 || deliveriesIn(t, kept[0]) != deliveriesIn(t, at("resting.db")) {
		t.Errorf("kept are %v", kept)
	}
	p = program.Serve(t, data)
	if again := p.Must("GET", "/members", program.ReadKey); again.Body != before.Body {
		t.Errorf("it answers %s, not %s", again.Body, before.Body)
	}
	kit.Must(t, p.Stop())
	program.Says(t, 0, []string{"compact", "--data", data}, "bytes and has")
	program.Says(t, 0, []string{"check", "--data", data}, "is sound")
}

// TestBackupToStdout: what comes out, of a served file or a resting one, is a
// data file; a reader that goes away is told.
func TestBackupToStdout(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	data := filepath.Join(folder, "teamdata.db")
	p := program.Serve(t, data, "--seed", program.Example)
	for _, name := range []string{"served", "resting"} {
		cmd := exec.Command(program.Binary(t), "backup", "-", "--data", data)
		cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
		content, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		to := filepath.Join(folder, name)
		kit.WriteFile(t, to, string(content))
		program.Says(t, 0, []string{"check", "--data", to}, "is sound")
		p.Kill()
	}
	cmd := exec.Command(program.Binary(t), "backup", "-", "--data", data)
	temp := t.TempDir()
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	reader, writer, err := os.Pipe()
	kit.Must(t, err)
	cmd.Stdout = writer
	reader.Close()
	if err := cmd.Run(); err == nil {
		t.Error("it has written to nobody")
	}
	writer.Close()
}

// A backup that can't be made says why, and what to do.
func TestBackupRefused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	data, to := filepath.Join(folder, "teamdata.db"), filepath.Join(folder, "backup.db")
	p := program.Serve(t, data, "--socket", filepath.Join(folder, "elsewhere.sock"))
	program.Says(t, 1, []string{"backup", to, "--data", data}, "in use by process", "--socket", "no server listens on "+data+".sock")
	program.Says(t, 0, []string{"backup", to, "--data", data, "--socket", filepath.Join(folder, "elsewhere.sock")}, "and sound")
	p.Kill()
	program.Says(t, 1, []string{"backup", to, "--data", filepath.Join(folder, "none.db")}, "already")
	program.Says(t, 1, []string{"backup", to + "2", "--data", filepath.Join(folder, "none.db")}, "does not exist", "--data")
	program.Says(t, 1, []string{"restore", filepath.Join(folder, "none.db"), "--data", data}, "none.db does not exist")
	program.Says(t, 1, []string{"backup"}, "give the file to write")
}

// deliveriesIn is how many deliveries of the example's endpoint are in a data file.
func deliveriesIn(t *testing.T, data string) int {
	t.Helper()
	return strings.Count(program.MustRun(t, "delivery", "list", "--endpoint", "whe_hook", "--org", "org_acme", "--limit", "0", "--data", data, "--json"), `"id":`)
}
