package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestServeBackups: a server makes its first backup at once, and what it made
// can be served.
func TestServeBackups(t *testing.T) {
	folder := t.TempDir()
	data, dir := filepath.Join(folder, "teamdata.db"), filepath.Join(folder, "backups")
	p := serveProcess(t, data, "--seed", "testdata/example.json", "--backup-dir", dir)
	first := p.must("GET", "/members", readKey)
	p.await("the first backup", func() bool {
		names, _ := filepath.Glob(filepath.Join(dir, "teamdata-*.db"))
		return len(names) == 1
	})
	if err := p.stop(); err != nil {
		t.Errorf("it ended with %v\n%s", err, p.out)
	}
	copied := serveProcess(t, filepath.Join(dir, namesIn(t, dir)[0]))
	if again := copied.must("GET", "/members", readKey); again.body != first.body {
		t.Errorf("the backup answers %s, not %s", again.body, first.body)
	}
	for flag, want := range map[string]string{"--backup-every=1s": "1m or more", "--backup-keep=0": "1 or more"} {
		says(t, 1, []string{"serve", flag}, want)
	}
}

func namesIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
