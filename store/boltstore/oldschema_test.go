package boltstore

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

func init() { childRoles["migrate"] = childMigrates }

// oldFile is a file of schema 2 that was written last at someTime, and the name
// of the copy that is kept of it.
func oldFile(t *testing.T) (f *fixture, kept string) {
	t.Helper()
	f = unzip(t, "schema2.db.gz")
	must(t, os.Chtimes(f.path, someTime, someTime))
	return f, f.path + ".schema-2-20261006T120000Z"
}

// holdsSchema2 holds a kept copy to be private and to hold what the file did.
func holdsSchema2(t *testing.T, kept, want string) {
	t.Helper()
	info, err := os.Stat(kept)
	must(t, err)
	if info.Mode().Perm() != fileMode {
		t.Errorf("its mode is %v", info.Mode())
	}
	if dumpFile(t, kept) != want {
		t.Error("the copy is not what the file was")
	}
	must(t, verify(bg, kept))
}

func TestKeepOldSchema(t *testing.T) {
	f, kept := oldFile(t)
	before := dumpFile(t, f.path)
	f.open(Options{})
	if from, name := f.MigratedFrom(); from != 2 || name != kept {
		t.Errorf("it is told as %d, %s", from, name)
	}
	f.close()
	holdsSchema2(t, kept, before)
	alone(t, f.path, kept)

	f.open(Options{}) // of today's schema: nothing to keep
	if from, name := f.MigratedFrom(); from != 0 || name != "" {
		t.Errorf("the second time it is told as %d, %s", from, name)
	}
	f.close()
	alone(t, f.path, kept)

	// The way back, and up again.
	_, err := Restore(bg, kept, f.path, someTime)
	must(t, err)
	if dumpFile(t, f.path) != before {
		t.Error("the copy put back is not what the file was")
	}
	f.open(Options{})
	f.close()
	wellKept(t, f.path)
}

// TestNothingToKeep: there is no copy of a new file, nor of one that is a copy.
func TestNothingToKeep(t *testing.T) {
	fresh := newFixture(t, Options{})
	fresh.close()
	alone(t, fresh.path)
	f, _ := oldFile(t)
	f.open(Options{NoSync: true})
	f.close()
	alone(t, f.path)
}

// TestRebuildKeepsOldSchema: what takes a file's place as a whole keeps it too.
func TestRebuildKeepsOldSchema(t *testing.T) {
	f, kept := oldFile(t)
	before := dumpFile(t, f.path)
	must(t, os.Link(f.path, kept)) // as a run leaves it that is killed at its last step
	must(t, Rebuild(bg, f.path, Options{}, fillWith(func(tx store.Tx) error { return store.AddPlan(tx, store.Plan{Name: "pro"}) })))
	holdsSchema2(t, kept, before)
	alone(t, f.path, kept)
	wellKept(t, f.path)
}

// TestFailedMigration leaves the file as it was, and no copy.
func TestFailedMigration(t *testing.T) {
	f, _ := oldFile(t)
	db, err := bbolt.Open(f.path, fileMode, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error { return spoil(tx.Bucket(bucketAPIKeys)) }))
	must(t, db.Close())
	refuses(t, f.path, fmt.Sprint("has schema 2 and can't be migrated to schema ", schemaVersion), "record")
	alone(t, f.path)
}

// childMigrates is killed at a step; there is none of the name "end".
func childMigrates(args []string) error {
	killAt(args[0])
	s, err := Open(args[1], Options{})
	if err != nil {
		return err
	}
	return s.Close()
}

// TestKilledWhileMigrating kills the process at each step: the file is still the
// old one, and the next start makes one copy and the new file.
func TestKilledWhileMigrating(t *testing.T) {
	for _, at := range strings.Fields("begun written synced verified placed end") {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			f, kept := oldFile(t)
			before, old := readFile(t, f.path), dumpFile(t, f.path)
			err := newChild(t, "migrate", at, f.path).Run()
			if killed := err != nil && strings.Contains(err.Error(), "killed"); killed != (at != "end") {
				t.Fatalf("the child ended with %v", err)
			}
			if at != "end" && !bytes.Equal(before, readFile(t, f.path)) {
				t.Error("the file has changed")
			}
			f.open(Options{})
			f.close()
			wellKept(t, f.path)
			holdsSchema2(t, kept, old)
			alone(t, f.path, kept)
			if names, _ := filepath.Glob(f.path + ".schema-*"); len(names) != 1 {
				t.Errorf("there are kept %v", names)
			}
		})
	}
}
