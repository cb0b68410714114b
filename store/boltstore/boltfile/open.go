package boltfile

import (
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

// Mode is the permission mode of the files created here.
const Mode = 0o600

const (
	lockTimeout    = 500 * time.Millisecond
	defaultMapSize = 1 << 30
	// maxSwaps is how often a file may be replaced while it is being opened.
	maxSwaps = 10
	// absent is the size of a file that does not exist.
	absent = -1
)

// Options control how a file is opened for writing.
type Options struct {
	// MapSize is how many bytes of address space are reserved for the file in
	// advance; 0 means 1 GiB, or twice the file if that is more.
	MapSize int
	// NoSync skips the disk's sync.
	NoSync bool
}

func (o Options) bolt(size int64) *bbolt.Options {
	mapSize := o.MapSize
	if mapSize == 0 {
		mapSize = max(defaultMapSize, int(2*size))
	}
	return &bbolt.Options{
		Timeout:         lockTimeout,
		FreelistType:    bbolt.FreelistMapType,
		NoFreelistSync:  true, // see freelist.go
		InitialMmapSize: mapSize,
		NoSync:          o.NoSync,
		NoStatistics:    true,
	}
}

// Open opens or creates the file at path for writing and holds its lock until it
// is closed. prepare receives the open file and keeps it; a panic over a damaged
// page becomes an error. If anything fails, the file is left as it was, but for its
// list of free pages, and a new one is removed.
func Open(path string, o Options, prepare func(*bbolt.DB) error) (f *File, err error) {
	db, size, err := openCurrent(path, func(size int64) (db *bbolt.DB, err error) {
		if size == absent && !o.NoSync {
			if err := begin(path); err != nil {
				return nil, err
			}
		}
		if db, f, err = openGuarded(path, o.bolt(size)); err != nil {
			discardHead(path, size, err)
		}
		return db, err
	})
	if err != nil {
		return f, err
	}
	if err := GuardPages(func() error { return prepare(db) }); err != nil {
		discard(path, size) // under the lock: no other process uses it yet
		db.Close()
		return f, explain(path, err)
	}
	return f, nil
}

// begin creates an empty file. It gets its name only once it is on disk: a power
// cut while bbolt writes the head would leave a damaged file. The name is on disk
// before anything is stored in the file.
func begin(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return nil // a dangling link: bbolt creates its target
	}
	t, err := newTemp(path, "new")
	if err != nil {
		return errors.Unwrap(err)
	}
	defer t.discard()
	db, err := bbolt.Open(t.Name(), Mode, &bbolt.Options{Timeout: lockTimeout})
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	if err = t.placeNew(); errors.Is(err, fs.ErrExist) {
		return errSwapped
	}
	return err
}

// Read opens the existing file at path, shared with other readers, and calls fn
// with it; a panic over a damaged page becomes an error. However much fn reads,
// it uses little memory.
func Read(path string, fn func(*bbolt.DB) error) error {
	db, err := openExisting(path, &bbolt.Options{Timeout: lockTimeout, ReadOnly: true, PreLoadFreelist: hasFreelist(path)})
	if err != nil {
		return err
	}
	defer db.Close()
	defer forgetPages(db)()
	return at(path, GuardPages(func() error { return fn(db) }))
}

// openExisting opens a file that must exist.
func openExisting(path string, o *bbolt.Options) (*bbolt.DB, error) {
	db, _, err := openCurrent(path, func(size int64) (*bbolt.DB, error) {
		switch size {
		case absent:
			return nil, errAbsent
		case 0:
			return nil, errEmpty
		}
		db, _, err := openGuarded(path, o)
		return db, err
	})
	return db, err
}

// openCurrent inspects a file and opens it. If the file was replaced while open
// waited for the lock, it starts over with the current one.
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

// openGuarded opens a file, even with damaged pages. Once locked it is the one at
// path, or the error is errSwapped.
func openGuarded(path string, options *bbolt.Options) (db *bbolt.DB, f *File, err error) {
	var file *os.File
	options.OpenFile = func(name string, flag int, mode fs.FileMode) (_ *os.File, err error) {
		if file, err = os.OpenFile(name, flag, mode); err == nil && !options.ReadOnly {
			err = prepareFreelist(file, !options.NoSync)
		}
		return file, err
	}
	err = GuardPages(func() (err error) {
		db, err = bbolt.Open(path, Mode, options)
		return err
	})
	if errors.Is(err, errPage) {
		unlock(file) // bbolt left it open and mapped
		file.Close()
	}
	if err != nil {
		return nil, nil, err
	}
	f = &File{db: db, file: file, path: path}
	if f.opened, err = file.Stat(); err != nil || f.Check() != nil {
		db.Close()
		return nil, nil, errSwapped
	}
	f.countFree()
	return db, f, nil
}

// inspect checks a file before it is opened for writing. bbolt maps the file, so
// touching a page missing at its end would crash the process.
func inspect(path string) (size int64, err error) {
	size, err = sizeOf(path)
	if err != nil || size <= 0 {
		return size, err
	}
	db, err := bbolt.Open(path, Mode, &bbolt.Options{Timeout: lockTimeout, ReadOnly: true})
	if err != nil {
		return 0, explain(path, err)
	}
	defer db.Close()
	return size, db.View(func(bolt *bbolt.Tx) error {
		if want := bolt.Size(); want > size {
			return &Error{Path: path, Text: fmt.Sprintf("is cut short: it has %d bytes and needs %d", size, want), Advice: "restore a backup"}
		}
		return nil
	})
}

// sizeOf returns the size of a file in bytes, or absent.
func sizeOf(path string) (size int64, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return absent, checkFolder(path)
	case err != nil:
		return 0, explain(path, err)
	case info.IsDir():
		return 0, &Error{Path: path, Text: "is a folder", Advice: "give the path of a file, such as " + filepath.Join(path, "teamdata.db")}
	}
	return info.Size(), nil
}

func checkFolder(path string) error {
	folder := filepath.Dir(path)
	switch info, err := os.Stat(folder); {
	case err == nil && !info.IsDir():
		return &Error{Path: path, Text: fmt.Sprintf("can't be made: %s is not a folder", folder), Advice: "give another path with --data"}
	case err != nil:
		return &Error{Path: path, Text: "can't be made: there is no folder " + folder, Advice: "make it with: mkdir -p " + folder, Err: &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}}
	}
	return nil
}

// discard removes the new file of a failed Open: the next Open would take it for
// a damaged one.
func discard(path string, sizeBefore int64) {
	switch sizeBefore {
	case absent:
		os.Remove(path)
	case 0:
		os.Truncate(path, 0)
	}
}

// discardHead discards a new file whose first pages bbolt wrote only in part. It
// holds no lock, so it leaves a file that another process has since opened.
func discardHead(path string, sizeBefore int64, err error) {
	head := int64(4 * os.Getpagesize())
	if info, serr := os.Stat(path); serr == nil && info.Size() <= head && !errors.Is(err, berrors.ErrTimeout) {
		discard(path, sizeBefore)
	}
}
