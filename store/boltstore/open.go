package boltstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

const (
	fileMode       = 0o600
	lockTimeout    = 500 * time.Millisecond
	defaultMapSize = 1 << 30
)

// Open opens the data file at path, or makes it. Its errors are one line for
// the operator, with the mend, and leave the file as it was.
func Open(path string, o Options) (*Store, error) {
	size, err := inspect(path)
	if err != nil {
		return nil, err
	}
	db, err := bbolt.Open(path, fileMode, o.bolt(size))
	if err != nil {
		return nil, explain(path, err)
	}
	if err := prepare(db); err != nil {
		db.Close()
		return nil, fmt.Errorf("data file %s %w", path, err)
	}
	s := &Store{db: db, clock: o.Now, closed: make(chan struct{})}
	if s.clock == nil {
		s.clock = time.Now
	}
	s.claimed = make(map[string]struct{})
	if err := s.resumeIDs(); err != nil {
		db.Close()
		return nil, fmt.Errorf("data file %s %w", path, err)
	}
	s.queue.init()
	go s.write()
	return s, nil
}

// resumeIDs lets new ids follow those in the file, even if the clock stepped
// back while teamdata was not running.
func (s *Store) resumeIDs() error {
	return s.db.View(func(bolt *bbolt.Tx) error {
		for _, name := range [][]byte{bucketEvents, bucketDeliveries} {
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
		MaxSize:         o.MaxSize,
		NoSync:          o.NoSync,
		NoStatistics:    true,
	}
}

// inspect looks at a file before it is opened for writing. bbolt maps the file,
// so a page that is missing at its end would end the process when it is
// touched.
func inspect(path string) (size int64, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, checkFolder(path)
	case err != nil:
		return 0, explain(path, err)
	case info.IsDir():
		return 0, fmt.Errorf("data file %s is a folder; give the path of a file, such as %s", path, filepath.Join(path, "teamdata.db"))
	case info.Size() == 0:
		return 0, nil
	}
	db, err := bbolt.Open(path, fileMode, &bbolt.Options{Timeout: lockTimeout, ReadOnly: true})
	if err != nil {
		return 0, explain(path, err)
	}
	defer db.Close()
	return info.Size(), db.View(func(bolt *bbolt.Tx) error {
		if want := bolt.Size(); want > info.Size() {
			return fmt.Errorf("data file %s is cut short: it has %d bytes and needs %d; put back a backup", path, info.Size(), want)
		}
		return nil
	})
}

func checkFolder(path string) error {
	folder := filepath.Dir(path)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return fmt.Errorf("data file %s can't be made: there is no folder %s; make it with: mkdir -p %s", path, folder, folder)
	}
	return nil
}

// explain says for the operator what keeps a file from being opened.
func explain(path string, err error) error {
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("data file %s is in use%s: another process holds the lock (flock) on it; stop that process, or give another file with --data", path, holder(path))
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("data file %s can't be read and written by this user; mend its owner and mode (0600), or give another file with --data", path)
	case errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum):
		return fmt.Errorf("data file %s is not a teamdata file, or its head is damaged (%w); give another file with --data, or put back a backup", path, err)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("data file %s can't be made: the disk is full", path)
	}
	return fmt.Errorf("data file %s can't be opened: %w", path, err)
}

// prepare makes the buckets of a new file, and holds an old one to its schema.
// A file that needs nothing is not written.
func prepare(db *bbolt.DB) error {
	found, err := schemaOf(db)
	switch {
	case err != nil:
		return err
	case found == schemaVersion:
		return nil
	case found > schemaVersion:
		return fmt.Errorf("has schema %d, and this teamdata knows up to %d: a newer teamdata wrote it; run that one, or put back a backup", found, schemaVersion)
	}
	return db.Update(func(bolt *bbolt.Tx) error {
		for _, name := range buckets {
			if _, err := bolt.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return bolt.Bucket(bucketMeta).Put(keySchema, numberKey(schemaVersion))
	})
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
			return errors.New("is a bbolt file, but not one of teamdata; give another file with --data")
		}
		version = binary.BigEndian.Uint64(meta.Get(keySchema))
		return nil
	})
	return version, err
}
