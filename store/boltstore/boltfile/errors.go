package boltfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"
)

// Error is what keeps a file from being opened, or from being written. Its text is
// one line for the operator, with the advice at the end.
type Error struct {
	Path   string // of the file; empty while it is not known
	Text   string // what is wrong; it goes on from the path
	Advice string // what to do about it; may be empty
	Err    error  // the reason, where that is an error of its own
}

func (e *Error) Error() string {
	text := "data file " + e.Path + " " + e.Text
	if e.Advice != "" {
		text += "; " + e.Advice
	}
	return text
}

// Hint is what to do about the error; it may be empty.
func (e *Error) Hint() string { return e.Advice }

func (e *Error) Unwrap() error { return e.Err }

// ErrInUse is the reason of an error about a file whose lock another process
// holds.
var ErrInUse = errors.New("in use")

var (
	errPage    = errors.New("a page is damaged")
	errAbsent  = &Error{Text: "is not there", Advice: "give another file with --data"}
	errEmpty   = &Error{Text: "is empty", Advice: "put back a backup, or give another file with --data"}
	errSwapped = &Error{Text: "is replaced again and again by other programs", Advice: "stop them, or give another file with --data"}
)

// at gives an Error the path of its file, and leaves other errors as they are.
func at(path string, err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Path != "" {
		return err
	}
	located := *e
	located.Path = path
	return &located
}

// explain says for the operator what keeps a file from being opened.
func explain(path string, err error) error {
	e := &Error{Path: path, Err: err}
	switch {
	case errors.As(err, new(*Error)):
		return at(path, err)
	case errors.Is(err, berrors.ErrTimeout):
		e.Err = ErrInUse
		e.Text = fmt.Sprintf("is in use by %s, which holds the lock (flock) on it", holder(path))
		e.Advice = "stop that process, or give another file with --data"
	case errors.Is(err, syscall.EROFS):
		e.Text, e.Advice = "is on a file system that is read-only", "mount that for writing, or choose another disk with --data"
	case errors.Is(err, fs.ErrPermission):
		e.Text = "can't be made, or read and written, by this user"
		e.Advice = "correct the owner and mode of the file (0600) and of its folder (0700), or give another file with --data"
	case errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum):
		e.Text = fmt.Sprintf("is not a teamdata file, or its head is damaged (%v)", err)
		e.Advice = "give another file with --data, or put back a backup with: teamdata restore"
	case errors.Is(err, syscall.ENOSPC):
		e.Text, e.Advice = "can't be made: the disk is full", "make room, or choose another disk"
	default:
		e.Text = fmt.Sprintf("can't be opened: %v", err)
		e.Advice = "give another file with --data, or put back a backup"
	}
	return e
}

// cantWrite says what keeps a file from being written, or its place from being
// taken.
func cantWrite(path string, err error) error {
	e := &Error{Path: path, Err: err}
	switch {
	case err == nil:
		return nil
	case IsFull(err):
		e.Text = fmt.Sprintf("can't be written: the disk is full (%v)", err)
		e.Advice = "make room, or choose another disk"
	case errors.Is(err, syscall.EROFS):
		e.Text, e.Advice = "can't be written: its file system is read-only", "mount that for writing, or choose another disk"
	case errors.Is(err, fs.ErrPermission):
		e.Text = fmt.Sprintf("can't be written by this user (%v)", err)
		e.Advice = fmt.Sprintf("correct the owner and mode of the folder %s (0700)", filepath.Dir(path))
	case errors.Is(err, errSlowDisk):
		e.Text, e.Advice = fmt.Sprintf("can't be written: %v", err), "choose another disk"
	default:
		e.Text = fmt.Sprintf("can't be written: %v", err)
	}
	return e
}

// IsFull reports whether an error says that there is no room left on the disk.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// GuardPages calls read. bbolt panics when a page is not what it should be, or when
// a page leads outside the file: that becomes an error.
func GuardPages(read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &Error{Text: fmt.Sprintf("is damaged (%v)", r), Advice: "put back a backup with: teamdata restore; see what else is wrong with: teamdata check", Err: errPage}
		}
	}()
	return read()
}

// renamed is an error about a temporary file that names the file which matters
// instead.
type renamed struct {
	error
	name, temp string
}

func rename(name, temp string, err error) error {
	if err == nil || !strings.Contains(err.Error(), temp) {
		return err
	}
	return renamed{err, name, temp}
}

func (r renamed) Error() string { return strings.ReplaceAll(r.error.Error(), r.temp, r.name) }
func (r renamed) Unwrap() error { return r.error }

// Hint is the error's own, renamed as its text.
func (r renamed) Hint() string {
	var hinted interface{ Hint() string }
	if !errors.As(r.error, &hinted) {
		return ""
	}
	return strings.ReplaceAll(hinted.Hint(), r.temp, r.name)
}
