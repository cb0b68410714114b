package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"teamdata/e2e/kit/program"
)

// TestServeBackups: a server makes its first backup at once, and what it made
// can be served.
func TestServeBackups(t *testing.T) {
	folder := t.TempDir()
	data, dir := filepath.Join(folder, "teamdata.db"), filepath.Join(folder, "backups")
	p := program.Serve(t, data, "--seed", program.Example, "--backup-dir", dir)
	first := p.Must("GET", "/members", program.ReadKey)
	p.Await("the first backup", func() bool {
		names, _ := filepath.Glob(filepath.Join(dir, "teamdata-*.db"))
		return len(names) == 1
	})
	if err := p.Stop(); err != nil {
		t.Errorf("it ended with %v\n%s", err, p.Out)
	}
	copied := program.Serve(t, filepath.Join(dir, namesIn(t, dir)[0]))
	if again := copied.Must("GET", "/members", program.ReadKey); again.Body != first.Body {
		t.Errorf("the backup answers %s, not %s", again.Body, first.Body)
	}
	for flag, want := range map[string]string{"--backup-every=1s": "1m or more", "--backup-keep=0": "1 or more"} {
		program.Says(t, 1, []string{"serve", flag}, want)
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
