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

// Error is the reason why a file can't be opened or written. Its text is one line
// for the operator, ending with the advice.
type Error struct {
	Path   string // of the file; empty while unknown
	Text   string // what is wrong; continues the path
	Advice string // what to do about it; may be empty
	Err    error  // the cause; may be nil
}

func (e *Error) Error() string {
	text := "data file " + e.Path + " " + e.Text
	if e.Advice != "" {
		text += "; " + e.Advice
	}
	return text
}

// Hint returns what to do about the error; it may be empty.
func (e *Error) Hint() string { return e.Advice }

func (e *Error) Unwrap() error { return e.Err }

// ErrInUse is the cause of an error about a file that another process has locked.
var ErrInUse = errors.New("in use")

var (
	errPage    = errors.New("a page is damaged")
	errAbsent  = &Error{Text: "does not exist", Advice: "give another file with --data"}
	errEmpty   = &Error{Text: "is empty", Advice: "restore a backup, or give another file with --data"}
	errSwapped = &Error{Text: "keeps being replaced by other programs", Advice: "stop them, or give another file with --data"}
)

// at sets the path of an Error, and returns other errors unchanged.
func at(path string, err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Path != "" {
		return err
	}
	located := *e
	located.Path = path
	return &located
}

// explain turns an error of opening a file into one for the operator.
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
		e.Advice = "give another file with --data, or restore a backup with: teamdata restore"
	case errors.Is(err, syscall.ENOSPC):
		e.Text, e.Advice = "can't be made: the disk is full", "make room, or choose another disk"
	default:
		e.Text = fmt.Sprintf("can't be opened: %v", err)
		e.Advice = "give another file with --data, or restore a backup"
	}
	return e
}

// cantWrite turns an error of writing or replacing a file into one for the
// operator.
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

// IsFull reports whether an error means that the disk is full.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// GuardPages calls read and turns a panic of bbolt, over a bad page or a
// reference outside the file, into an error.
func GuardPages(read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &Error{Text: fmt.Sprintf("is damaged (%v)", r), Advice: "restore a backup with: teamdata restore; see what else is wrong with: teamdata check", Err: errPage}
		}
	}()
	return read()
}

// renamed is an error about a temporary file that names the file it stands for
// instead. No hint names a temporary file, so that the error's own stays.
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
