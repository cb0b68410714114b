package boltfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"
)

// View runs fn on a consistent snapshot of an open file.
type View func(fn func(*bbolt.Tx) error) error

// Backup writes a snapshot of the open file at path to a new file, which gets its
// name only once it is verified and on disk. Commits continue meanwhile; the
// space that they free is reused once the copying is done. An existing file at to
// is an error.
func Backup(ctx context.Context, path string, view View, to string, verify Verify) error {
	return backup(ctx, path, to, verify, func(ctx context.Context, t *temp) error {
		copied, err := copyOpen(ctx, view, t)
		if err != nil {
			return err
		}
		return cantWrite(to, copied.flush(ctx))
	})
}

// BackupFile is Backup of a file that no process has open for writing.
func BackupFile(ctx context.Context, path, to string, verify Verify) error {
	return backup(ctx, path, to, verify, func(ctx context.Context, t *temp) error { return copyFile(ctx, path, t) })
}

// ReceiveBackup is Backup of a remote file, whose Snapshot of size bytes is read
// from r.
func ReceiveBackup(ctx context.Context, r io.Reader, size int64, to string, verify Verify) error {
	return backup(ctx, to, to, verify, func(ctx context.Context, t *temp) error {
		n, err := io.Copy(&pacedWriter{ctx: ctx, file: t.File}, io.LimitReader(r, size+1))
		if err == nil && n != size {
			return &Error{Path: to, Text: fmt.Sprintf("can't be written: the server sent %d bytes of %d", n, size), Advice: "try again"}
		}
		return cantWrite(to, err)
	})
}

// Snapshot returns an unverified snapshot of the open file at path, positioned at
// its start: an unnamed file, deleted on Close. A slow reader blocks nothing.
func Snapshot(ctx context.Context, path string, view View) (*os.File, error) {
	t, err := newTemp(followLinks(path), "snapshot")
	if err != nil {
		return nil, err
	}
	_, err = copyOpen(ctx, view, t)
	if err == nil {
		_, err = t.Seek(0, io.SeekStart)
	}
	os.Remove(t.Name())
	if err != nil {
		t.Close()
		return nil, err
	}
	return t.File, nil
}

// KeepCopy writes a copy of an open file beside it, named by its path, an infix
// and the time of its last write. An existing copy of that name is replaced.
func KeepCopy(ctx context.Context, db *bbolt.DB, infix string, verify Verify) (kept string, err error) {
	path := followLinks(db.Path())
	t, err := newTemp(path, "kept")
	if err != nil {
		return "", err
	}
	defer t.discard()
	if t.target, err = keptName(path, infix); err != nil {
		return "", err
	}
	if _, err := copyOpen(ctx, db.View, t); err != nil {
		return "", err
	}
	if err := t.finish(ctx, path, verify); err != nil {
		return "", err
	}
	return t.target, t.placeOver()
}

// backup creates a file from the copy of source that fill writes.
func backup(ctx context.Context, source, to string, verify Verify, fill func(context.Context, *temp) error) error {
	switch _, err := os.Lstat(to); {
	case err == nil:
		return errExists(to)
	case !errors.Is(err, fs.ErrNotExist):
		return cantWrite(to, err)
	}
	if err := checkFolder(to); err != nil {
		return err
	}
	t, err := newTemp(to, "backup")
	if err != nil {
		return err
	}
	defer t.discard()
	if err := tryLock(t.File, false); err != nil { // shows others that it is in use
		return cantWrite(to, err)
	}
	if err := fill(ctx, t); err != nil {
		return err
	}
	if err := t.finish(ctx, source, verify); err != nil {
		return err
	}
	return t.placeNew()
}

func errExists(path string) error {
	return &Error{Path: path, Text: "already exists", Advice: "give another name, or move it away", Err: fs.ErrExist}
}

// copyOpen copies the current content of an open file.
func copyOpen(ctx context.Context, view View, t *temp) (copied *pacedWriter, err error) {
	err = view(func(bolt *bbolt.Tx) (err error) {
		copied, err = copyMoment(ctx, bolt, t)
		return err
	})
	return copied, err
}
