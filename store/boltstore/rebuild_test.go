//go:build unix

package boltstore

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

// alone holds a folder to having nothing in it but the names.
func alone(t *testing.T, path string, more ...string) {
	t.Helper()
	want := map[string]bool{filepath.Base(path): true}
	for _, name := range more {
		want[filepath.Base(name)] = true
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	for _, entry := range entries {
		if !want[entry.Name()] {
			t.Errorf("%s is left behind", entry.Name())
		}
		delete(want, entry.Name())
	}
	for name := range want {
		t.Errorf("%s is missing", name)
	}
}

// fillWith makes a fill function that commits one Update.
func fillWith(fn func(store.Tx) error) func(*Store) error {
	return func(s *Store) error { return s.Update(bg, store.All, fn) }
}

func TestRebuild(t *testing.T) {
	f := newWhole(t)
	f.open(Options{})
	before := f.auditCount()
	f.close()
	for range 2 {
		must(t, Rebuild(bg, f.path, Options{}, fillWith(appendAudit("usr_rebuilt"))))
		wellKept(t, f.path)
		alone(t, f.path)
	}
	info, err := os.Stat(f.path)
	must(t, err)
	if info.Mode() != boltfile.Mode {
		t.Errorf("mode %v", info.Mode())
	}
	f.open(Options{})
	f.countAudit(before + 2)
}

// TestRebuildNewFile: where there is no file, or an empty one, one is made.
func TestRebuildNewFile(t *testing.T) {
	for name, before := range map[string]func(path string){
		"none":  func(string) {},
		"empty": func(path string) { writeFile(t, path, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{TB: t, path: filepath.Join(t.TempDir(), "teamdata.db")}
			before(f.path)
			must(t, Rebuild(bg, f.path, Options{}, func(s *Store) error {
				(&fixture{TB: t, Store: s, path: f.path}).fill()
				return nil
			}))
			wellKept(t, f.path)
			alone(t, f.path)
			f.open(Options{})
			f.update(appendAudit("usr_1"))
			f.close()
		})
	}
}

// TestRebuildFails: what fails leaves the file as it was, or none, and nothing
// beside it.
func TestRebuildFails(t *testing.T) {
	onPurpose := errors.New("on purpose")
	fail := func(s *Store) error {
		return errors.Join(fillWith(appendAudit("usr_lost"))(s), onPurpose)
	}
	f := newWhole(t)
	before := readFile(t, f.path)
	if err := Rebuild(bg, f.path, Options{}, fail); !errors.Is(err, onPurpose) {
		t.Errorf("failed with %v", err)
	}
	alone(t, f.path)
	if !bytes.Equal(before, readFile(t, f.path)) {
		t.Error("the file has changed")
	}
	missing := filepath.Join(t.TempDir(), "teamdata.db")
	if err := Rebuild(bg, missing, Options{}, fail); !errors.Is(err, onPurpose) {
		t.Errorf("failed with %v", err)
	}
	if _, err := os.Stat(missing); !os.IsNotExist(err) {
		t.Errorf("a failed rebuild has made a file: %v", err)
	}
}

// TestRebuildOwnsTheFile: while it runs nobody can open the file, and where one
// is made meanwhile, that one stays.
func TestRebuildOwnsTheFile(t *testing.T) {
	f := newWhole(t)
	must(t, Rebuild(bg, f.path, Options{}, func(*Store) error {
		refuses(t, f.path, "in use")
		return nil
	}))
	missing := filepath.Join(t.TempDir(), "teamdata.db")
	err := Rebuild(bg, missing, Options{}, func(*Store) error {
		writeFile(t, missing, []byte("another's"))
		return nil
	})
	if err == nil {
		t.Fatal("it has replaced a file that it did not own")
	}
	saysOneLine(t, err.Error(), missing, "already")
	if content := readFile(t, missing); string(content) != "another's" {
		t.Errorf("the other's file holds %q", content)
	}
}
