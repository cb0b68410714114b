package serve_test

import (
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
	var names []string
	p.Await("the first backup", func() bool {
		names, _ = filepath.Glob(filepath.Join(dir, "teamdata-*.db"))
		return len(names) == 1
	})
	p.StopWell()
	copied := program.Serve(t, names[0])
	if again := copied.Must("GET", "/members", program.ReadKey); again.Body != first.Body {
		t.Errorf("the backup answers %s, not %s", again.Body, first.Body)
	}
	for flag, want := range map[string]string{"--backup-every=1s": "1m or more", "--backup-keep=0": "1 or more"} {
		program.Says(t, 1, []string{"serve", flag}, want)
	}
}
