package boltstore

import (
	"context"
	"fmt"
	"math"
	"os"

	"go.etcd.io/bbolt"
)

// migrations are the steps between the schemas: the first brings a file of schema
// 1 to schema 2, and so on. Each runs with all of today's buckets made, and all
// that a file needs run in one transaction.
var migrations []func(*tx) error

// schemaVersion is the version of the layout in layout.go. A file of a newer one
// is refused; a file of an older one is migrated when it is opened.
func schemaVersion() uint64 { return uint64(len(migrations)) + 1 }

// migrate brings a file of an older schema to today's.
func migrate(bolt *bbolt.Tx, from uint64) error {
	for _, step := range migrations[from-1:] {
		if err := step(&tx{bolt: bolt}); err != nil {
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

// migrateFile migrates a file of an older schema, once a copy of it is kept. A file
// that can't be migrated is left as it was, without a copy. One that is not
// synced is a copy itself.
func (s *Store) migrateFile(from uint64) (err error) {
	if !s.db.NoSync {
		s.keptOld, err = s.keepOld(from)
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

// keepOld writes a copy of the file beside it, for an operator who has to go back
// to the previous teamdata. When the process is killed before the file is
// migrated, the next one makes the copy again, under the same name.
func (s *Store) keepOld(from uint64) (kept string, err error) {
	path := followLinks(s.Path())
	t, err := newTemp(path, "schema")
	if err != nil {
		return "", err
	}
	defer t.discard()
	if t.target, err = schemaName(path, from); err != nil {
		return "", err
	}
	ctx := context.Background()
	err = s.db.View(func(bolt *bbolt.Tx) error {
		_, err := copyMoment(ctx, bolt, t)
		return err
	})
	if err != nil {
		return "", err
	}
	if err := t.finish(ctx, path); err != nil {
		return "", err
	}
	return t.target, t.placeOver()
}

// keepOld gives the file of an older schema, which is about to be replaced, the
// name of its copy. When a killed run has left it both names, the next Open parts
// them.
func (o *owned) keepOld(from uint64) error {
	kept, err := schemaName(o.path, from)
	if err != nil || o.isFile(kept) {
		return err
	}
	return o.keep(kept)
}

// schemaName is the path of the copy that is kept of a file of an older schema. It
// names the time at which the file was last written.
func schemaName(path string, schema uint64) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s.schema-%d-%s", path, schema, info.ModTime().UTC().Format(keptTime)), nil
}

// notMigrated goes on from the file's path, as a refusal does.
func notMigrated(from uint64, err error) error {
	text := fmt.Sprintf("has schema %d and can't be migrated to schema %d: ", from, schemaVersion())
	if isFull(err) {
		return refusal(fmt.Sprintf("%sthe disk is full (%v); make room for two more files of its size", text, err))
	}
	return fmt.Errorf("%w%w", refusal(text), err)
}
