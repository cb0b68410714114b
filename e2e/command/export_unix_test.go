//go:build unix

package command

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// What a killed export has left goes with the next one; what another export works in
// stays.
func TestKilledExport(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, "a.db")
	program.MustRun(t, "import", program.Example, "--data", data)
	killed, running := filepath.Join(folder, ".a.db.export-1"), filepath.Join(folder, ".a.db.export-2")
	for _, left := range []string{killed, running} {
		kit.Must(t, os.Mkdir(left, 0o700))
		kit.WriteFile(t, filepath.Join(left, "copy.db"), "a copy")
	}
	lock, err := os.Open(running)
	kit.Must(t, err)
	defer lock.Close()
	kit.Must(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	program.MustRun(t, "export", filepath.Join(folder, "b.json"), "--data", data)
	if left, _ := filepath.Glob(filepath.Join(folder, ".a.db.export-*")); len(left) != 1 || left[0] != running {
		t.Errorf("it left %v", left)
	}
}
