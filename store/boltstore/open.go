package boltstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"go.etcd.io/bbolt"
)

const (
	fileMode       = 0o600
	lockTimeout    = 500 * time.Millisecond
	defaultMapSize = 1 << 30
)

// Open opens the data file at path, or makes it. Its errors are one line for
// the operator, with the mend, and leave the file as it was.
func Open(path string, o Options) (*Store, error) {
	db, size, err := openCurrent(path, func(size int64) (*bbolt.DB, error) { return openBolt(path, o, size) })
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, clock: o.Now, before: o.BeforeCommit, seal: sealing{o.Sealer}, closed: make(chan struct{})}
	if s.clock == nil {
		s.clock = time.Now
	}
	s.claimed = make(map[string]struct{})
	if err := guardPages(s.start); err != nil {
		discard(path, size) // under the lock: nobody else has begun to use it
		db.Close()
		return nil, explain(path, err)
	}
	s.queue.init()
	go s.write()
	return s, nil
}

func (s *Store) start() error {
	if err := s.prepare(); err != nil {
		return err
	}
	return s.resumeIDs()
}

// resumeIDs lets new ids follow those in the file, even if the clock stepped
// back while teamdata was not running.
func (s *Store) resumeIDs() error {
	return s.db.View(func(bolt *bbolt.Tx) error {
		for _, name := range [][]byte{bucketEvents, bucketDeliveries, bucketMails} {
			if last, _ := bolt.Bucket(name).Cursor().Last(); last != nil {
				s.ids.Follow(string(last))
			}
		}
		return nil
	})
}

func (o Options) bolt(size int64) *bbolt.Options {
	mapSize := o.MapSize
	if mapSize == 0 {
		mapSize = max(defaultMapSize, int(2*size))
	}
	return &bbolt.Options{
		Timeout:         lockTimeout,
		FreelistType:    bbolt.FreelistMapType,
		InitialMmapSize: mapSize,
		NoSync:          o.NoSync,
		NoStatistics:    true,
	}
}

// openBolt opens a file that inspect has seen with a size.
func openBolt(path string, o Options, size int64) (*bbolt.DB, error) {
	db, err := openGuarded(path, o.bolt(size))
	if err != nil {
		discardHead(path, size, err)
	}
	return db, err
}

// maxSwaps is how often a file may be replaced while it is being opened.
const maxSwaps = 10

// openCurrent inspects a file and opens it. While open waited for the lock, the
// file may have been replaced: then it is done again with what is there now.
func openCurrent(path string, open func(size int64) (*bbolt.DB, error)) (db *bbolt.DB, size int64, err error) {
	for range maxSwaps {
		if size, err = inspect(path); err != nil {
			return nil, size, err
		}
		if db, err = open(size); !errors.Is(err, errSwapped) {
			break
		}
	}
	if err != nil {
		return nil, size, explain(path, err)
	}
	return db, size, nil
}

// openGuarded opens a file, whatever its pages hold. It is the one at path once
// it is locked, or the error is errSwapped.
func openGuarded(path string, options *bbolt.Options) (db *bbolt.DB, err error) {
	var file *os.File
	options.OpenFile = func(name string, flag int, mode fs.FileMode) (_ *os.File, err error) {
		file, err = os.OpenFile(name, flag, mode)
		return file, err
	}
	err = guardPages(func() (err error) {
		db, err = bbolt.Open(path, fileMode, options)
		return err
	})
	if errors.Is(err, errPage) {
		unlock(file) // bbolt left it open and mapped
		file.Close()
	}
	if err != nil {
		return nil, err
	}
	if !isAt(file, path) {
		db.Close()
		return nil, errSwapped
	}
	return db, nil
}

// prepare makes the buckets of a new file, holds an old one to its schema, and
// seals one that is to be sealed. A file that needs nothing is not written.
func (s *Store) prepare() error {
	found, err := schemaOf(s.db)
	if err != nil {
		return err
	}
	if found > schemaVersion() {
		return newerSchema(found)
	}
	sealed, err := s.seal.check(s.db)
	if err != nil {
		return err
	}
	s.sealedNow = s.seal.on() && !sealed
	if found == schemaVersion() && !s.sealedNow {
		return nil
	}
	if found > 0 && found < schemaVersion() {
		return s.migrateFile(found)
	}
	return s.db.Update(func(bolt *bbolt.Tx) error { return s.upgrade(bolt, found) })
}

func newerSchema(found uint64) refusal {
	return refusal(fmt.Sprintf("has schema %d, and this teamdata knows up to %d: a newer teamdata wrote it; run that one, or put back a backup", found, schemaVersion()))
}

// upgrade brings a file of a schema, 0 for a new one, to what this Store works
// with.
func (s *Store) upgrade(bolt *bbolt.Tx, found uint64) error {
	for _, name := range buckets {
		if _, err := bolt.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	if found > 0 {
		if err := migrate(bolt, found); err != nil {
			return err
		}
	}
	if s.sealedNow {
		if err := s.seal.all(bolt); err != nil {
			return err
		}
	}
	return bolt.Bucket(bucketMeta).Put(keySchema, numberKey(schemaVersion()))
}

// schemaOf is the schema version of a file, 0 for a new one. A bbolt file of
// another program is refused.
func schemaOf(db *bbolt.DB) (version uint64, err error) {
	err = db.View(func(bolt *bbolt.Tx) error {
		first, _ := bolt.Cursor().First()
		meta := bolt.Bucket(bucketMeta)
		if first == nil {
			return nil
		}
		if meta == nil || len(meta.Get(keySchema)) != 8 {
			return errForeign
		}
		version = binary.BigEndian.Uint64(meta.Get(keySchema))
		return nil
	})
	return version, err
}
