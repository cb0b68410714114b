package boltstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store/boltstore/boltfile"
	"teamdata/store/engine"
	"teamdata/store/rows"
)

// Open opens or creates the data file at path. Its errors are one line for the
// operator, with a hint, and leave the file as it was.
func Open(path string, o Options) (*Store, error) {
	s, err := open(path, o)
	if errors.Is(err, errPlain) {
		return sealAndOpen(path, o)
	}
	return s, err
}

func open(path string, o Options) (*Store, error) {
	s := &Store{clock: o.Now, tests: o.ForTests, before: o.BeforeCommit, seal: rows.Sealing{Sealer: o.Sealer}}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.before == nil {
		s.before = func() error { return nil }
	}
	s.life, s.end = context.WithCancelCause(context.Background())
	var err error
	s.file, err = boltfile.Open(path, boltfile.Options{MapSize: o.MapSize, NoSync: o.NoSync}, func(db *bbolt.DB) error {
		s.db = db
		if err := s.prepare(); err != nil {
			return err
		}
		return s.resume()
	})
	if err != nil {
		return nil, err
	}
	s.queue = engine.NewQueue()
	go s.readKeys(slices.Clone(s.keys.partitions))
	go s.write()
	return s, nil
}

// rising lists the buckets whose last key is the last id assigned.
var rising = [][]byte{[]byte("events"), []byte("deliveries"), []byte("mails")}

// resume continues from the file's content: new ids follow the existing ones,
// even if the clock stepped back while teamdata was not running.
func (s *Store) resume() error {
	return s.db.View(func(bolt *bbolt.Tx) error {
		s.synced.init(bolt.ID())
		s.keys.init(bolt)
		for _, name := range rising {
			if last, _ := bolt.Bucket(name).Cursor().Last(); last != nil {
				s.ids.Follow(string(last))
			}
		}
		return nil
	})
}

// prepare creates the buckets that a file lacks, migrates an old file, and seals a
// copy that is to be sealed. An up-to-date file is not written.
func (s *Store) prepare() error {
	found, err := schemaOf(s.db)
	if err != nil {
		return err
	}
	sealed, err := checkSeal(s.db, s.seal)
	if err != nil {
		return err
	}
	s.sealedNow = s.seal.On() && !sealed
	if s.sealedNow && found > 0 && !s.db.NoSync {
		return errPlain
	}
	if found == schemaVersion() && !s.sealedNow && hasBuckets(s.db) {
		return nil
	}
	if found > 0 && found < schemaVersion() {
		return s.migrateFile(found)
	}
	return s.db.Update(func(bolt *bbolt.Tx) error { return s.upgrade(bolt, found) })
}

// hasBuckets reports whether a file has all buckets. One that an earlier teamdata wrote
// lacks those that came without another schema: they were empty then.
func hasBuckets(db *bbolt.DB) (all bool) {
	_ = db.View(func(bolt *bbolt.Tx) error {
		all = !slices.ContainsFunc(buckets, func(name []byte) bool { return bolt.Bucket(name) == nil })
		return nil
	})
	return all
}

// upgrade brings a file of schema found, 0 for a new one, to the Store's schema.
func (s *Store) upgrade(bolt *bbolt.Tx, found uint64) error {
	for _, name := range buckets {
		if _, err := bolt.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	if found > 0 {
		if err := s.migrate(bolt, found); err != nil {
			return err
		}
	}
	if s.sealedNow {
		if err := sealAll(bolt, s.seal); err != nil {
			return err
		}
	}
	return bolt.Bucket(bucketMeta).Put(keySchema, numberKey(schemaVersion()))
}

// schemaOf returns the schema version of a file, 0 for a new one. A bbolt file of
// another program is rejected, and one of a schema above ours.
func schemaOf(db *bbolt.DB) (version uint64, err error) {
	err = db.View(func(bolt *bbolt.Tx) error {
		first, _ := bolt.Cursor().First()
		meta := bolt.Bucket(bucketMeta)
		if first == nil {
			return nil
		}
		if meta == nil || len(meta.Get(keySchema)) != 8 {
			if ours(bolt) {
				return errDamaged
			}
			return &boltfile.Error{Text: "is a bbolt file, but not one of teamdata", Advice: "give another file with --data"}
		}
		if version = binary.BigEndian.Uint64(meta.Get(keySchema)); version > schemaVersion() {
			return unknownSchema(bolt, version)
		}
		return nil
	})
	return version, err
}

// errDamaged is for a file whose schema can't be read but whose buckets are ours.
var errDamaged = &boltfile.Error{
	Text:   "is damaged: it holds records of teamdata, but does not say of which schema",
	Advice: "restore a backup with: teamdata restore; see what else is wrong with: teamdata check",
}

// ours reports whether a file is teamdata's, judging by its buckets: more match
// than by chance.
func ours(bolt *bbolt.Tx) bool {
	n := 0
	for _, name := range buckets {
		if bolt.Bucket(name) != nil {
			n++
		}
	}
	return n > len(buckets)/2
}

// unknownSchema is the error about a file of a schema above ours. A file from before the
// first release, whose schemas went up to 4, lacks a bucket that all later ones have.
func unknownSchema(bolt *bbolt.Tx, found uint64) error {
	if bolt.Bucket([]byte("managers")) != nil && bolt.Bucket([]byte("visibleOrgs")) == nil {
		return &boltfile.Error{
			Text:   fmt.Sprintf("has schema %d of a teamdata from before the first release, which later ones don't read", found),
			Advice: "export it with the teamdata that wrote it, and import that: teamdata export, teamdata import",
		}
	}
	return &boltfile.Error{
		Text:   fmt.Sprintf("has schema %d, and this teamdata knows up to %d: a newer teamdata wrote it", found, schemaVersion()),
		Advice: "run that one, or restore a backup",
	}
}
