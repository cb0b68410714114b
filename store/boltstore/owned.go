package boltstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	berrors "go.etcd.io/bbolt/errors"
)

// owned is the place of a data file that is about to be replaced. The lock on
// what lies there keeps servers from starting on it; it need not be a sound
// file.
type owned struct {
	path string
	file *os.File // nil: there is none
}

// own locks the file at path, if there is one.
func own(path string) (*owned, error) {
	path = followLinks(path)
	for range maxSwaps {
		size, err := sizeOf(path)
		if err != nil || size == absent {
			return &owned{path: path}, err
		}
		file, err := lockFile(path)
		if err == nil {
			return &owned{path, file}, nil
		}
		if !errors.Is(err, errSwapped) {
			return nil, explain(path, err)
		}
	}
	return nil, explain(path, errSwapped)
}

// followLinks is the file that a path leads to: a link is not what is replaced.
func followLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// lockFile opens and locks the file that is at path once it is locked.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err = awaitLock(file); err == nil && !isAt(file, path) {
		err = errSwapped
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// awaitLock waits for the lock as long as bbolt does: another process may be
// having a look at the file.
func awaitLock(file *os.File) error {
	const pause = 20 * time.Millisecond
	for deadline := time.Now().Add(lockTimeout); ; time.Sleep(pause) {
		err := tryLock(file, true)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if time.Now().After(deadline) {
			return berrors.ErrTimeout
		}
	}
}

// isAt tells whether an open file is the one at path.
func isAt(file *os.File, path string) bool {
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(mine, there)
}

func (o *owned) release() {
	if o.file != nil {
		o.file.Close()
	}
}

// place gives a temp file the place.
func (o *owned) place(t *temp) error {
	if o.file == nil {
		return t.placeNew()
	}
	return t.placeOver()
}

// keep gives the old file a second name, under which it stays.
func (o *owned) keep(name string) error {
	switch err := os.Link(o.path, name); {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("there is a file %s already; move it away, or try again in a second", name)
	case err != nil:
		return fmt.Errorf("data file %s can't be kept as %s (%w); move it away yourself, and try again", o.path, name, err)
	}
	return syncFolder(o.path)
}
