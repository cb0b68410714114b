package boltstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"
)

// refusal is why a file that bbolt can open is refused. Its text goes on from
// the file's path.
type refusal string

func (r refusal) Error() string { return string(r) }

const (
	errForeign refusal = "is a bbolt file, but not one of teamdata; give another file with --data"
	errPage    refusal = "is damaged; put back a backup"
	errAbsent  refusal = "is not there; give another file with --data"
	errEmpty   refusal = "is empty; put back a backup, or give another file with --data"
	errSwapped refusal = "is replaced again and again by other programs; stop them, or give another file with --data"
)

// ErrInUse is the reason of an error about a file whose lock another process
// holds.
var ErrInUse = errors.New("in use")

// ErrOlderSchema is the reason of an error about a file that has to be brought up
// to date first, which Open does.
var ErrOlderSchema = errors.New("has an older schema")

// explain says for the operator what keeps a file from being opened.
func explain(path string, err error) error {
	var refused refusal
	switch {
	case errors.As(err, &refused), errors.Is(err, ErrOlderSchema):
		return fmt.Errorf("data file %s %w", path, err)
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("data file %s is %w by %s, which holds the lock (flock) on it; stop that process, or give another file with --data", path, ErrInUse, holder(path))
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("data file %s can't be made, or read and written, by this user; mend the owner and mode of the file (0600) and of its folder (0700), or give another file with --data", path)
	case errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum):
		return fmt.Errorf("data file %s is not a teamdata file, or its head is damaged (%w); give another file with --data, or put back a backup", path, err)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("data file %s can't be made: the disk is full", path)
	}
	return fmt.Errorf("data file %s can't be opened: %w; give another file with --data, or put back a backup", path, err)
}

// guardPages turns the panic with which bbolt meets a page that is not what it
// should be into an error, and so a page that leads outside the file.
func guardPages(read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w (%v)", errPage, r)
		}
	}()
	return read()
}

// discard takes away what a failed Open has made of a new file: the next Open
// would take it for a damaged one.
func discard(path string, sizeBefore int64) {
	switch sizeBefore {
	case absent:
		os.Remove(path)
	case 0:
		os.Truncate(path, 0)
	}
}

// discardHead discards what bbolt wrote of a new file's first pages. It holds
// no lock, so it leaves a file that another process has opened meanwhile.
func discardHead(path string, sizeBefore int64, err error) {
	head := int64(4 * os.Getpagesize())
	if info, serr := os.Stat(path); serr == nil && info.Size() <= head && !errors.Is(err, berrors.ErrTimeout) {
		discard(path, sizeBefore)
	}
}
