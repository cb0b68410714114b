package boltstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"
)

// Backup writes a copy of one moment of the open Store to a new file, which has
// its name only once it is on the disk and sound. Commits go on meanwhile; the
// space that they free is used again when the copying is done. A file that is
// there already is an error.
func (s *Store) Backup(ctx context.Context, to string) error {
	return backup(ctx, s.Path(), to, func(ctx context.Context, t *temp) error {
		copied, err := s.copyTo(ctx, t)
		if err != nil {
			return err
		}
		return cantWrite(to, copied.flush(ctx))
	})
}

// BackupFile is Backup of a data file that no server has open.
func BackupFile(ctx context.Context, path, to string) error {
	return backup(ctx, path, to, func(ctx context.Context, t *temp) error { return copyFile(ctx, path, t) })
}

// ReceiveBackup is Backup of a Store elsewhere, whose Snapshot of size bytes is
// read from r.
func ReceiveBackup(ctx context.Context, r io.Reader, size int64, to string) error {
	return backup(ctx, to, to, func(ctx context.Context, t *temp) error {
		n, err := io.Copy(&pieces{ctx: ctx, file: t.File}, io.LimitReader(r, size+1))
		if err == nil && n != size {
			err = fmt.Errorf("the server sent %d bytes of %d; try again", n, size)
		}
		return cantWrite(to, err)
	})
}

// Snapshot is an unchecked copy of one moment of the open Store, to be read from
// its start and closed: a file without a name, which is gone then. Whoever reads
// it slowly holds nothing up.
func (s *Store) Snapshot(ctx context.Context) (*os.File, error) {
	t, err := newTemp(followLinks(s.Path()), "snapshot")
	if err != nil {
		return nil, err
	}
	_, err = s.copyTo(ctx, t)
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

// backup makes a file with the copy that fill writes of source.
func backup(ctx context.Context, source, to string, fill func(context.Context, *temp) error) error {
	switch _, err := os.Lstat(to); {
	case err == nil:
		return alreadyThere(to)
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
	if err := tryLock(t.File, false); err != nil { // what shows others that it is in use
		return cantWrite(to, err)
	}
	if err := fill(ctx, t); err != nil {
		return err
	}
	if err := t.finish(ctx, source); err != nil {
		return err
	}
	return t.placeNew()
}

func alreadyThere(path string) error {
	return fmt.Errorf("there is a file %s already; give another name, or move it away", path)
}

// copyTo copies what is in the Store at this moment.
func (s *Store) copyTo(ctx context.Context, t *temp) (copied *pieces, err error) {
	err = s.view(func(moment *tx) (err error) {
		copied, err = copyMoment(ctx, moment.bolt, t)
		return err
	})
	return copied, err
}

// copyFile copies a data file that no program writes.
func copyFile(ctx context.Context, path string, t *temp) error {
	db, err := openExisting(path, toRead())
	if err != nil {
		return err
	}
	defer db.Close()
	return db.View(func(bolt *bbolt.Tx) error {
		_, err := copyMoment(ctx, bolt, t)
		return err
	})
}
