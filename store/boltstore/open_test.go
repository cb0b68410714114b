package boltstore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

func TestNewFile(t *testing.T) {
	f := newFixture(t, Options{})
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

// A file from before there were deleted orgs, which is of the same schema, passes the
// check, and opens with all that it has.
func TestOpenWithoutABucket(t *testing.T) {
	f := newFixture(t, Options{})
	f.update(appendAudit("usr_1"))
	f.close()
	db, err := bbolt.Open(f.path, 0o600, nil)
	must(t, err)
	err = errors.Join(db.Update(func(bolt *bbolt.Tx) error { return bolt.DeleteBucket([]byte("removedOrgs")) }), db.Close())
	must(t, err)
	if err := verify(f.path); err != nil {
		t.Error(err)
	}
	f.open(Options{})
	f.update(func(tx store.Tx) error {
		removed, err := tx.RemovedOrgs(1)
		if len(removed) > 0 {
			t.Errorf("%q are removed", removed)
		}
		_, errCreate := store.CreateOrg(tx, "", store.Org{ID: "org_new", Name: "New"})
		return errors.Join(err, errCreate)
	})
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
		"schema from before the first release": {
			func(t *testing.T, path string) {
				s, err := Open(path, Options{})
				must(t, err)
				must(t, s.Close())
				spoilMeta(t, path, func(b *bbolt.Bucket) error {
					must(t, b.Tx().DeleteBucket([]byte("visibleOrgs")))
					return b.Put(keySchema, numberKey(4))
				})
			},
			[]string{"has schema 4 of a teamdata from before the first release", "teamdata export, teamdata import"},
		},
		"file of another program": {
			func(t *testing.T, path string) { writeBucket(t, path, "widgets") },
			[]string{"not one of teamdata", "--data"},
		},
		"file of another program with the same bucket": {
			func(t *testing.T, path string) { writeBucket(t, path, "meta") },
			[]string{"not one of teamdata", "--data"},
		},
		"damaged head": {
			func(t *testing.T, path string) {
				spoilMeta(t, path, func(b *bbolt.Bucket) error { return b.Delete(keySchema) })
			},
			[]string{"is damaged", "teamdata check", "teamdata restore"},
		},
		"damaged number of the schema": {
			func(t *testing.T, path string) {
				spoilMeta(t, path, func(b *bbolt.Bucket) error { return b.Put(keySchema, []byte{1}) })
			},
			[]string{"is damaged", "teamdata check", "teamdata restore"},
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

func TestOpenEmptyFile(t *testing.T) {
	f := &fixture{TB: t, path: filepath.Join(t.TempDir(), "teamdata.db")}
	writeFile(t, f.path, nil)
	f.open(Options{})
	f.fill()
	f.close()
}

func spoilMeta(t *testing.T, path string, spoil func(*bbolt.Bucket) error) {
	t.Helper()
	f := &fixture{TB: t, path: path}
	f.open(Options{})
	must(t, f.db.Update(func(tx *bbolt.Tx) error { return spoil(tx.Bucket(bucketMeta)) }))
	f.close()
}
