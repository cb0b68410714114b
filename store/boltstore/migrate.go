package boltstore

import (
	"context"
	"fmt"
	"math"
	"os"

	"go.etcd.io/bbolt"

	"teamdata/internal/hint"
	"teamdata/store/boltstore/boltfile"
)

// migrations are the steps between the schemas: the first brings a file of schema
// 1 to schema 2, and so on. Each runs with all of today's buckets made, and all
// that a file needs run in one transaction.
var migrations []func(*tx) error

// schemaVersion is the version of the layout in layout.go. A file of a newer one
// is refused; a file of an older one is migrated when it is opened.
func schemaVersion() uint64 { return uint64(len(migrations)) + 1 }

// migrate brings a file of an older schema to today's. One that is to be sealed is
// in plain text until then.
func (s *Store) migrate(bolt *bbolt.Tx, from uint64) error {
	on := &Store{clock: s.clock}
	if !s.sealedNow {
		on.seal = s.seal
	}
	for _, step := range migrations[from-1:] {
		if err := step(&tx{s: on, bolt: bolt, now: s.now()}); err != nil {
			return err
		}
	}
	return nil
}

func allKeys(b *bbolt.Bucket) [][]byte { return firstKeys(b, math.MaxInt) }

// MigratedFrom is the schema from which this Open has migrated the file, and the
// path of the copy that is kept of the file as it was; 0 and "" if the file was
// new or of today's schema.
func (s *Store) MigratedFrom() (schema uint64, kept string) { return s.oldSchema, s.keptOld }

// migrateFile migrates a file of an older schema, once a copy of it is kept beside it
// for an operator who has to go back to the previous teamdata. A file that can't be
// migrated is left as it was, without a copy. When the process is killed before the
// file is migrated, the next one makes the copy again, under the same name. A file
// that is not synced is a copy itself.
func (s *Store) migrateFile(from uint64) (err error) {
	if !s.db.NoSync {
		s.keptOld, err = boltfile.KeepCopy(context.Background(), s.db, schemaInfix(from), verify)
	}
	if err == nil {
		err = s.db.Update(func(bolt *bbolt.Tx) error { return s.upgrade(bolt, from) })
	}
	if err != nil {
		os.Remove(s.keptOld) // "" is no file
		return notMigrated(from, err)
	}
	s.oldSchema = from
	return nil
}

// schemaInfix is part of the name of the copy that is kept of a file of an older
// schema.
func schemaInfix(schema uint64) string { return fmt.Sprintf(".schema-%d-", schema) }

func notMigrated(from uint64, err error) error {
	text := fmt.Sprintf("has schema %d and can't be migrated to schema %d: ", from, schemaVersion())
	if boltfile.IsFull(err) {
		return &boltfile.Error{Text: fmt.Sprintf("%sthe disk is full (%v)", text, err), Advice: "make room for two more files of its size", Err: err}
	}
	why, advice := hint.Split(err)
	return &boltfile.Error{Text: text + why, Advice: advice, Err: err}
}
