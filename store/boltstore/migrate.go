package boltstore

import (
	"context"
	"fmt"
	"os"

	"go.etcd.io/bbolt"

	"teamdata/internal/hint"
	"teamdata/store/boltstore/boltfile"
)

// migrations are the steps between the schemas: the first migrates schema 1 to
// schema 2, and so on. All current buckets exist when they run, and all that a
// file needs run in one transaction.
var migrations []func(*tx) error

// schemaVersion is the version of the layout in layout.go. A file with a newer
// version is rejected; an older one is migrated on opening.
func schemaVersion() uint64 { return uint64(len(migrations)) + 1 }

// migrate brings a file of an older schema up to date. A file to be sealed is
// still in plain text.
func (s *Store) migrate(bolt *bbolt.Tx, from uint64) error {
	on := &Store{clock: s.clock}
	if !s.sealedNow {
		on.seal = s.seal
	}
	for _, step := range migrations[from-1:] {
		t := newTx(on, bolt, &writing{})
		t.now = s.Now()
		if err := step(t); err != nil {
			return err
		}
	}
	return nil
}

// MigratedFrom returns the schema from which this Open migrated the file, and the
// path of the copy kept of the old file; 0 and "" if the file was new or up to
// date.
func (s *Store) MigratedFrom() (schema uint64, kept string) { return s.oldSchema, s.keptOld }

// migrateFile migrates a file of an older schema after making a copy next to it,
// for an operator who has to go back to the previous teamdata. A file that can't
// be migrated is left as it was, without a copy. If the process is killed before
// the file is migrated, the next one makes the copy again, under the same name.
// An unsynced file gets no copy: it is itself one.
func (s *Store) migrateFile(from uint64) (err error) {
	if !s.db.NoSync {
		s.keptOld, err = boltfile.KeepCopy(context.Background(), s.db, schemaInfix(from), verify)
	}
	if err == nil {
		err = s.db.Update(func(bolt *bbolt.Tx) error { return s.upgrade(bolt, from) })
	}
	if err != nil {
		os.Remove(s.keptOld) // "" names no file
		return notMigrated(from, err)
	}
	s.oldSchema = from
	return nil
}

// schemaInfix is part of the name of the copy kept of a file of an older schema.
func schemaInfix(schema uint64) string { return fmt.Sprintf(".schema-%d-", schema) }

func notMigrated(from uint64, err error) error {
	text := fmt.Sprintf("has schema %d and can't be migrated to schema %d: ", from, schemaVersion())
	if boltfile.IsFull(err) {
		return &boltfile.Error{Text: fmt.Sprintf("%sthe disk is full (%v)", text, err), Advice: "make room for two more files of its size", Err: err}
	}
	why, advice := hint.Split(err)
	return &boltfile.Error{Text: text + why, Advice: advice, Err: err}
}
