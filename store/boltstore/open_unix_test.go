//go:build unix

package boltstore

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"teamdata/store/boltstore/boltfile"
)

func init() { childRoles["open"] = childOpens }

func TestNewFileIsPrivate(t *testing.T) {
	f := newFixture(t, Options{})
	info, err := os.Stat(f.path)
	must(t, err)
	if info.Mode() != boltfile.Mode {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestOpenInUse(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	refuses(t, f.path, "in use", fmt.Sprintf("by process %d (", os.Getpid()))
	f.update(appendAudit("usr_1"))
	f.close()

	pid := holdInChild(t, f.path)
	wants := []string{"in use", "lock (flock)", "--data"}
	if runtime.GOOS == "linux" {
		wants = append(wants, fmt.Sprintf("by process %d (", pid))
	}
	refuses(t, f.path, wants...)
}

// TestOpenNotWritable runs Open as a user who is not root, whom no mode stops.
func TestOpenNotWritable(t *testing.T) {
	for name, c := range map[string]struct {
		file, folder fs.FileMode
		want         string
	}{
		"file read-only":      {0o444, 0o755, "the file (0600)"},
		"file unreadable":     {0o000, 0o755, "the file (0600)"},
		"folder not writable": {0, 0o555, "can't be made"},
		"folder closed":       {0o600, 0o000, "folder"},
	} {
		t.Run(name, func(t *testing.T) {
			folder, err := os.MkdirTemp("", "boltstore") // t.TempDir is closed to others
			must(t, err)
			t.Cleanup(func() {
				must(t, os.Chmod(folder, 0o700))
				must(t, os.RemoveAll(folder))
			})
			path := filepath.Join(folder, "teamdata.db")
			if name != "folder not writable" {
				writeSchema(t, path, schemaVersion())
				must(t, os.Chmod(path, c.file))
			}
			must(t, os.Chmod(folder, c.folder))
			saysOneLine(t, openInChild(t, path), path, c.want)
		})
	}
}

// nobody is a user without rights.
const nobody = 65534

// childOpens prints what Open says to a user who is not root.
func childOpens(args []string) error {
	if os.Getuid() == 0 {
		for _, drop := range []error{syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)} {
			if drop != nil {
				return drop
			}
		}
	}
	s, err := Open(args[0], Options{})
	if err != nil {
		fmt.Print(err)
		return nil
	}
	return s.Close()
}

// openInChild returns what Open says to a user who is not root.
func openInChild(t *testing.T, path string) string {
	t.Helper()
	out, err := newChild(t, "open", path).Output()
	must(t, err)
	return string(out)
}
