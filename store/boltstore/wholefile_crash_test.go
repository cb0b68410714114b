//go:build unix

package boltstore

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

func init() { childRoles["whole file"] = childReplaces }

// killAt kills this process, as kill -9 does, once a step is done.
func killAt(at string) {
	boltfile.Step = func(done string) {
		if done == at {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
}

// replacements are what works on whole files: it makes path, from another file
// if it needs one.
var replacements = map[string]func(path, other string) error{
	"rebuild": func(path, _ string) error {
		return Rebuild(bg, path, Options{}, func(s *Store) error {
			if err := s.Update(bg, store.All, appendAudit("usr_1")); err != nil {
				return err
			}
			boltfile.Step("filling")
			return s.Update(bg, store.All, appendAudit("usr_2"))
		})
	},
	"restore": func(path, other string) error {
		_, err := Restore(bg, other, path, someTime)
		return err
	},
	"compact": func(path, _ string) error {
		_, _, err := Compact(bg, path, nil)
		return err
	},
	"backup": func(path, other string) error { return BackupFile(bg, other, path) },
	"hot backup": func(path, other string) error {
		s, err := Open(other, Options{})
		if err != nil {
			return err
		}
		defer s.Close()
		return s.Backup(bg, path)
	},
}

// childReplaces is killed at a step; there is none of the name "end".
func childReplaces(args []string) error {
	killAt(args[1])
	return replacements[args[0]](args[2], args[3])
}

// TestKilledWhileReplacing kills each work on a whole file at each of its steps.
// Up to the last one the old file is there as it was, and from then on the new
// one. The next run clears away what is left.
func TestKilledWhileReplacing(t *testing.T) {
	old, other := wholeFiles(t)
	for name, steps := range map[string]string{
		"rebuild":    "begun filling written synced verified | placed end",
		"restore":    "begun written synced verified kept | placed end",
		"compact":    "begun written synced verified | placed end",
		"backup":     "begun written synced verified | placed end",
		"hot backup": "begun written synced verified | placed end",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, exists := range []bool{true, false} {
				makes := strings.HasSuffix(name, "backup")
				if exists == makes || !exists && name == "compact" {
					continue
				}
				done := false
				for _, at := range strings.Fields(steps) {
					switch {
					case at == "|":
						done = true
					case at != "kept" || exists:
						killedAt(t, name, at, old, other, exists, done)
					}
				}
			}
		})
	}
}

// wholeFiles are the contents of two sound files.
func wholeFiles(t *testing.T) (old, other []byte) {
	t.Helper()
	f := newWhole(t)
	old = readFile(t, f.path)
	f.open(Options{})
	f.update(appendAudit("usr_other"))
	f.close()
	return old, readFile(t, f.path)
}

func killedAt(t *testing.T, name, at string, old, other []byte, exists, done bool) {
	t.Helper()
	path, from := filepath.Join(t.TempDir(), "teamdata.db"), filepath.Join(t.TempDir(), "other.db")
	writeFile(t, from, other)
	if exists {
		writeFile(t, path, old)
	}
	err := newChild(t, "whole file", name, at, path, from).Run()
	if killed := err != nil && strings.Contains(err.Error(), "killed"); killed != (at != "end") {
		t.Fatalf("at %s: the child ended with %v", at, err)
	}
	what := fmt.Sprintf("%s, killed at %q, a file before: %v", name, at, exists)
	content, err := os.ReadFile(path)
	switch {
	case done && bytes.Equal(content, old):
		t.Errorf("%s: the old file is there", what)
	case done:
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".teamdata.db.*")); len(left) > 0 {
			t.Errorf("%s: beside the new file is %s", what, left)
		}
		wellKept(t, path)
	case exists && !bytes.Equal(content, old), !exists && !os.IsNotExist(err):
		t.Errorf("%s: %v, %d bytes that are not the old file", what, err, len(content))
	}
	runAgain(t, name, path, from, old, done)
}

// runAgain runs work that was killed, to its end.
func runAgain(t *testing.T, name, path, from string, old []byte, done bool) {
	t.Helper()
	if done && strings.HasSuffix(name, "backup") {
		must(t, os.Remove(path))
	}
	kept, _ := filepath.Glob(path + ".before-restore-" + "*")
	if done {
		for _, file := range kept {
			if !bytes.Equal(readFile(t, file), old) {
				t.Errorf("%s does not hold the old file", file)
			}
			must(t, os.Remove(file))
		}
	}
	must(t, replacements[name](path, from))
	wellKept(t, path)
	kept, _ = filepath.Glob(path + ".before-restore-" + "*")
	alone(t, path, kept...)
	f := &fixture{TB: t, path: path}
	f.open(Options{NoSync: true})
	f.view(func(tx store.Tx) error {
		_, err := tx.Org(testOrg)
		return err
	})
	f.close()
}
