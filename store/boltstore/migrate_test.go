//go:build unix

package boltstore

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"teamdata/internal/hint"
	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

func init() { childRoles["migrate"] = childMigrates }

// madeUp are steps between schemas that there are only in tests. The first
// rewrites each org and makes a bucket, the second names that bucket anew.
var madeUp = []func(*tx) error{
	func(t *tx) error {
		for _, id := range firstKeys(t.bolt.Bucket([]byte("orgs")), math.MaxInt) {
			o, err := t.Org(string(id))
			if err != nil {
				return err
			}
			o.Name += " in schema 2"
			if err := t.PutOrg(o); err != nil {
				return err
			}
		}
		boltfile.Step("migrating")
		_, err := t.bolt.CreateBucket([]byte("second"))
		return err
	},
	func(t *tx) error {
		if err := t.bolt.DeleteBucket([]byte("second")); err != nil {
			return err
		}
		_, err := t.bolt.CreateBucket([]byte("third"))
		return err
	},
}

// withMigrations makes the schema that these steps lead to today's.
func withMigrations(t *testing.T, steps []func(*tx) error) {
	t.Helper()
	before := migrations
	migrations = steps
	t.Cleanup(func() { migrations = before })
}

// oldFile is a file of schema 1 that was last written at someTime, and the path of
// the copy that is kept of it. Today's schema is 2.
func oldFile(t *testing.T) (f *fixture, kept string) {
	t.Helper()
	f = oldFileOf(t, nil)
	withMigrations(t, madeUp[:1])
	return f, f.path + ".schema-1-20261006T120000Z"
}

// oldFileOf is a file of the schema that some steps lead to.
func oldFileOf(t *testing.T, steps []func(*tx) error) *fixture {
	t.Helper()
	withMigrations(t, steps)
	f := newFixture(t, Options{})
	f.sendTests(20)
	for i := range 20 {
		f.update(appendAudit(fmt.Sprint("usr_", i)))
	}
	if len(steps) > 0 { // a new file has not gone through them
		must(t, f.db.Update(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("second"))
			return err
		}))
	}
	f.close()
	must(t, os.Chtimes(f.path, someTime, someTime))
	return f
}

// holdsSchema1 holds a kept copy to be private and to hold what the file did.
func holdsSchema1(t *testing.T, kept, want string) {
	t.Helper()
	info, err := os.Stat(kept)
	must(t, err)
	if info.Mode().Perm() != boltfile.Mode {
		t.Errorf("its mode is %v", info.Mode())
	}
	if dumpFile(t, kept) != want {
		t.Error("the copy is not what the file was")
	}
	must(t, verify(kept))
}

// dumpFile is all that a file holds that no Store has open.
func dumpFile(t *testing.T, path string) string {
	t.Helper()
	db, err := bbolt.Open(path, boltfile.Mode, &bbolt.Options{ReadOnly: true})
	must(t, err)
	defer db.Close()
	f := &fixture{TB: t, Store: &Store{db: db}}
	return f.dump()
}

// TestMigrate: the steps that a file needs run, in their order, and no others.
func TestMigrate(t *testing.T) {
	for from, name := range map[int]string{1: "Test in schema 2", 2: "Test"} {
		f := oldFileOf(t, madeUp[:from-1])
		withMigrations(t, madeUp)
		f.open(Options{})
		if found, _ := f.MigratedFrom(); found != uint64(from) {
			t.Errorf("a file of schema %d was migrated from %d", from, found)
		}
		f.view(func(tx store.Tx) error {
			o, err := tx.Org(testOrg)
			f.says("the org's name", o.Name, name)
			return err
		})
		if names := f.topBuckets(); names["second"] || !names["third"] || len(names) != len(buckets)+1 {
			t.Errorf("from schema %d the buckets are %v", from, names)
		}
		f.close()
		wellKept(t, f.path)
		before := readFile(t, f.path)
		f.open(Options{})
		f.close()
		if !bytes.Equal(before, readFile(t, f.path)) {
			t.Error("opening the file again has changed it")
		}
	}
}

func TestKeepOldSchema(t *testing.T) {
	f, kept := oldFile(t)
	before := dumpFile(t, f.path)
	f.open(Options{})
	if from, name := f.MigratedFrom(); from != 1 || name != kept {
		t.Errorf("it was migrated from %d and kept as %s", from, name)
	}
	f.close()
	holdsSchema1(t, kept, before)
	alone(t, f.path, kept)

	f.open(Options{}) // of today's schema: nothing to keep
	if from, name := f.MigratedFrom(); from != 0 || name != "" {
		t.Errorf("the second time it was migrated from %d and kept as %s", from, name)
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

// TestMigrateAndSeal: a file is migrated in plain text and sealed then, and a sealed
// one is migrated with its key.
func TestMigrateAndSeal(t *testing.T) {
	f := oldFileOf(t, nil)
	f.open(Options{})
	f.addSecrets()
	f.close()
	renameEndpoints := func(t *tx) error {
		list, err := t.Endpoints(testOrg)
		for _, e := range list {
			e.Description += "!"
			err = errors.Join(err, t.PutEndpoint(e))
		}
		return err
	}
	for steps := 1; steps <= 2; steps++ {
		withMigrations(t, []func(*tx) error{renameEndpoints, renameEndpoints}[:steps])
		f.open(sealed(t))
		f.hasSecrets()
		f.view(func(tx store.Tx) error {
			e, err := tx.Endpoint(testOrg, "whe_a")
			f.says("the description", e.Description, strings.Repeat("!", steps))
			return err
		})
		f.close()
		wellKept(t, f.path)
	}
}

// TestNewerSchemaIsLeftAlone: the previous teamdata refuses a migrated file, and
// takes the copy that was kept.
func TestNewerSchemaIsLeftAlone(t *testing.T) {
	f, kept := oldFile(t)
	f.open(Options{})
	f.close()
	withMigrations(t, nil)
	refuses(t, f.path, "has schema 2", "up to 1", "newer teamdata")
	must(t, os.Rename(kept, f.path))
	f.open(Options{})
	f.close()
	wellKept(t, f.path)
}

// TestCheckOlderSchema: an older file is not checked, and the reason is ErrOlderSchema.
func TestCheckOlderSchema(t *testing.T) {
	f, _ := oldFile(t)
	err := Check(f.path, func(fault string) { t.Errorf("a fault is found: %s", fault) })
	if !errors.Is(err, ErrOlderSchema) {
		t.Fatalf("it is checked with %v", err)
	}
	saysOneLine(t, err.Error(), f.path, "has an older schema: 1", "reads 2")
	if sealed, err := CheckKey(f.path, nil); sealed || err != nil {
		t.Errorf("its key is checked with %v, %v", sealed, err)
	}
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
	holdsSchema1(t, kept, before)
	alone(t, f.path, kept)
	wellKept(t, f.path)
}

// TestFailedMigration leaves the file as it was, and no copy.
func TestFailedMigration(t *testing.T) {
	f, _ := oldFile(t)
	db, err := bbolt.Open(f.path, boltfile.Mode, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error { return spoil(tx.Bucket([]byte("orgs"))) }))
	must(t, db.Close())
	refuses(t, f.path, "has schema 1 and can't be migrated to schema 2", "record")
	_, err = Open(f.path, Options{})
	if _, advice := hint.Split(err); advice != "restore a backup" {
		t.Errorf("it advises %q", advice)
	}
	alone(t, f.path)
}

// childMigrates is killed at a step; there is none of the name "end".
func childMigrates(args []string) error {
	killAt(args[0])
	migrations = madeUp[:1]
	s, err := Open(args[1], Options{})
	if err != nil {
		return err
	}
	return s.Close()
}

// TestKilledWhileMigrating kills the process at each step: the file is still the
// old one, and the next start makes one copy and the new file.
func TestKilledWhileMigrating(t *testing.T) {
	for _, at := range strings.Fields("begun written synced verified placed migrating end") {
		t.Run(at, func(t *testing.T) {
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
			holdsSchema1(t, kept, old)
			alone(t, f.path, kept)
			if names, _ := filepath.Glob(f.path + ".schema-*"); len(names) != 1 {
				t.Errorf("there are kept %v", names)
			}
		})
	}
}
