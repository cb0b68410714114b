//go:build unix

package boltstore

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"go.etcd.io/bbolt"

	"teamdata/store/boltstore/boltfile"
)

func TestNewFile(t *testing.T) {
	f := newFixture(t, Options{})
	info, err := os.Stat(f.path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != boltfile.Mode {
		t.Errorf("mode %v", info.Mode())
	}
	if version, err := schemaOf(f.db); err != nil || version != schemaVersion() {
		t.Errorf("schema %d, %v", version, err)
	}
	if f.Path() != f.path {
		t.Errorf("path %s", f.Path())
	}
}

func TestReopenChangesNothing(t *testing.T) {
	f := newFixture(t, Options{})
	f.update(appendAudit("usr_1"))
	f.close()
	before := readFile(t, f.path)
	f.open(Options{})
	f.close()
	if !bytes.Equal(before, readFile(t, f.path)) {
		t.Error("opening and closing has changed the file")
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		make  func(t *testing.T, path string)
		wants []string
	}{
		"folder": {
			func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) },
			[]string{"is a folder", "teamdata.db/teamdata.db"},
		},
		"newer schema": {
			func(t *testing.T, path string) { writeSchema(t, path, schemaVersion()+1) },
			[]string{fmt.Sprintf("schema %d", schemaVersion()+1), fmt.Sprintf("up to %d", schemaVersion()), "newer teamdata", "backup"},
		},
		"file of another program": {
			func(t *testing.T, path string) { writeBucket(t, path, "widgets") },
			[]string{"not one of teamdata", "--data"},
		},
		"file of another program with the same bucket": {
			func(t *testing.T, path string) { writeBucket(t, path, "meta") },
			[]string{"not one of teamdata", "--data"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "teamdata.db")
			c.make(t, path)
			refuses(t, path, c.wants...)
		})
	}
}

func TestOpenMissingFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data", "deep")
	refuses(t, filepath.Join(folder, "teamdata.db"), "no folder", "mkdir -p "+folder)
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, []byte("a file"))
	refuses(t, filepath.Join(file, "teamdata.db"), "not a folder")
}

func TestOpenInUse(t *testing.T) {
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

func TestOpenEmptyFile(t *testing.T) {
	f := &fixture{TB: t, path: filepath.Join(t.TempDir(), "teamdata.db")}
	writeFile(t, f.path, nil)
	f.open(Options{})
	f.fill()
	f.close()
}

func writeSchema(t *testing.T, path string, version uint64) {
	t.Helper()
	f := &fixture{TB: t, path: path}
	f.open(Options{})
	must(t, f.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketMeta).Put(keySchema, numberKey(version))
	}))
	f.close()
}

func writeBucket(t *testing.T, path, name string) {
	t.Helper()
	db, err := bbolt.Open(path, boltfile.Mode, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte(name))
		return err
	}))
	must(t, db.Close())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
