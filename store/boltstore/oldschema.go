package boltstore

import (
	"context"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

// MigratedFrom is the schema that this Open has brought the file up from, and
// the file in which a copy of what it was is kept; 0 and "" if it was new or of
// today's schema.
func (s *Store) MigratedFrom() (schema uint64, kept string) { return s.oldSchema, s.keptOld }

// bringUp migrates a file of an older schema, once a copy is kept of it. A file
// that can't be migrated is left as it was, without a copy. One that is not
// synced is a copy itself.
func (s *Store) bringUp(from uint64) (err error) {
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

// keepOld writes a copy of the file beside it, for who has to go back to the
// teamdata before. When the process is killed before the file is migrated, the
// next one makes the copy again, under the same name.
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

// schemaName is the name for what is kept of a file of an older schema, by when
// it was written last.
func schemaName(path string, schema uint64) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s.schema-%d-%s", path, schema, info.ModTime().UTC().Format(keptTime)), nil
}

// notMigrated goes on from the file's path, as a refusal does.
func notMigrated(from uint64, err error) error {
	text := fmt.Sprintf("has schema %d and can't be migrated to schema %d: ", from, schemaVersion)
	if isFull(err) {
		return refusal(fmt.Sprintf("%sthe disk is full (%v); make room for two more files of its size", text, err))
	}
	return fmt.Errorf("%w%w", refusal(text), err)
}
