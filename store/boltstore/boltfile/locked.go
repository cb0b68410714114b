package boltfile

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

// lockedFile is the path of a file that is about to be replaced. The lock on the
// current file keeps servers from opening it; the file may be damaged.
type lockedFile struct {
	path string
	file *os.File // nil: none
}

// lock locks the file at path, if there is one.
func lock(path string) (*lockedFile, error) {
	path = followLinks(path)
	for range maxSwaps {
		size, err := sizeOf(path)
		if err != nil || size == absent {
			return &lockedFile{path: path}, err
		}
		file, err := openLocked(path)
		if err == nil {
			return &lockedFile{path, file}, nil
		}
		if !errors.Is(err, errSwapped) {
			return nil, explain(path, err)
		}
	}
	return nil, explain(path, errSwapped)
}

// followLinks resolves links: the file is replaced, not a link to it.
func followLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// openLocked opens and locks a file, and makes sure that it is still the one at path.
func openLocked(path string) (*os.File, error) {
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
// inspecting the file.
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

// isAt reports whether an open file is the one at path.
func isAt(file *os.File, path string) bool {
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(mine, there)
}

func (l *lockedFile) isFile(path string) bool { return l.file != nil && isAt(l.file, path) }

func (l *lockedFile) release() {
	if l.file != nil {
		l.file.Close()
	}
}

// replaceBy replaces the file with a temporary one. The old one stays under another name;
// empty: it doesn't. A killed run may leave both names of it.
func (l *lockedFile) replaceBy(t *temp, kept string) error {
	if l.file == nil {
		return t.placeNew()
	}
	if kept == "" || l.isFile(kept) {
		return t.placeOver()
	}
	if err := l.keep(kept); err != nil {
		return err
	}
	Step("kept")
	err := t.placeOver()
	if err != nil && l.isFile(l.path) {
		os.Remove(kept)
	}
	return err
}

// keep gives the old file a second name, under which it is kept.
func (l *lockedFile) keep(name string) error {
	switch err := os.Link(l.path, name); {
	case errors.Is(err, fs.ErrExist):
		return &Error{Path: name, Text: "already exists", Advice: "move it away, or try again in a second"}
	case err != nil:
		return &Error{Path: l.path, Text: fmt.Sprintf("can't be kept as %s (%v)", name, err), Advice: "move it away yourself, and try again", Err: err}
	}
	return syncFolder(l.path)
}

const keptTime = "20060102T150405Z" // in UTC

// keptName is the name for a copy of a file: its path, an infix, and the time of its last
// write.
func keptName(path, infix string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return path + infix + info.ModTime().UTC().Format(keptTime), nil
}
