//go:build unix

package boltstore_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"teamdata/app"
	"teamdata/cli"
	"teamdata/e2e/kit"
	"teamdata/store/boltstore"
)

func init() {
	boltstore.MigratingChild("program", func(args []string) error {
		os.Args = append([]string{"teamdata"}, args...)
		os.Exit(cli.Main("v1.2.3"))
		return nil
	})
}

// TestServeTellsOfMigration: serve says in its log that it has migrated the file, and
// where the copy is; the next start has nothing to say.
func TestServeTellsOfMigration(t *testing.T) {
	path, kept := boltstore.OldFile(t)
	if line := serveOnce(t, path); line == nil || line["level"] != "warn" || line["fromSchema"] != 1.0 || line["copy"] != kept {
		t.Errorf("the log says %v", line)
	}
	if line := serveOnce(t, path); line != nil {
		t.Errorf("the second time the log says %v", line)
	}
}

// serveOnce serves a file until it is ready, and returns the log's line about a
// migration, if there is one.
func serveOnce(t *testing.T, path string) (migrated map[string]any) {
	t.Helper()
	serve := boltstore.NewChild(t, "program", "serve", "--data", path, "--listen", "127.0.0.1:0", "--http")
	serve.Stderr = nil
	log, err := serve.StderrPipe()
	kit.Must(t, err)
	kit.Must(t, serve.Start())
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var line map[string]any
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Errorf("the log has the line %q", lines.Text())
		}
		switch line["message"] {
		case app.Migrated:
			migrated = line
		case "serving":
			serve.Process.Signal(os.Interrupt)
		}
	}
	if err := serve.Wait(); err != nil {
		t.Errorf("serve ended with %v", err)
	}
	return migrated
}

// TestCommandTellsOfMigration: so does a command that opens the file itself, once
// doctor has said what is to come.
func TestCommandTellsOfMigration(t *testing.T) {
	path, kept := boltstore.OldFile(t)
	for _, step := range []struct{ command, says string }{
		{"doctor", path + " has an older schema, which serve upgrades"},
		{"check", "has an older schema: 1, and this teamdata reads 2"},
		{"org list", app.Migrated + ": " + kept + "\n"},
		{"doctor", path + " is sound, and has the schema of this version"},
		{"check", "is sound"},
	} {
		var said bytes.Buffer
		command := boltstore.NewChild(t, "program", append(strings.Fields(step.command), "--data", path)...)
		command.Stdout, command.Stderr = &said, &said
		_ = command.Run() // what it says tells how it went
		if !strings.Contains(said.String(), step.says) {
			t.Errorf("teamdata %s says, and not %q:\n%s", step.command, step.says, &said)
		}
	}
}
