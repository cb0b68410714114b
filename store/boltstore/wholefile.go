package boltstore

import (
	"context"
	"io"
	"os"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store/boltstore/boltfile"
)

// Backup writes a verified snapshot of the open Store to a new file while commits
// continue: see [boltfile.Backup].
func (s *Store) Backup(ctx context.Context, to string) error {
	return boltfile.Backup(ctx, s.Path(), s.viewFile, to, s.verifyBeside)
}

// verifyBeside is verify beside commits, to which it gives way.
func (s *Store) verifyBeside(path string) error {
	began := time.Now()
	return verifyInSteps(path, func() {
		if took := time.Since(began); took > longCheck {
			s.giveWay(took)
			began = time.Now()
		}
	})
}

// Snapshot returns an unverified snapshot of the open Store, positioned at its
// start: see [boltfile.Snapshot].
func (s *Store) Snapshot(ctx context.Context) (*os.File, error) {
	return boltfile.Snapshot(ctx, s.Path(), s.viewFile)
}

func (s *Store) viewFile(fn func(*bbolt.Tx) error) error {
	return s.view(func(t *tx) error { return fn(t.bolt) })
}

// BackupFile is Backup of a data file that no server has open.
func BackupFile(ctx context.Context, path, to string) error {
	return boltfile.BackupFile(ctx, path, to, verify)
}

// ReceiveBackup is Backup of a remote Store, whose Snapshot of size bytes is read
// from r.
func ReceiveBackup(ctx context.Context, r io.Reader, size int64, to string) error {
	return boltfile.ReceiveBackup(ctx, r, size, to, verify)
}

// Restore replaces the data file at path, which no server may have open, with a
// copy of a backup, and returns the name under which the old file is kept: see
// [boltfile.Restore].
func Restore(ctx context.Context, backup, path string, now time.Time) (kept string, err error) {
	return boltfile.Restore(ctx, backup, path, now, verify)
}

// Compact rewrites the data file at path without its free space: see
// [boltfile.Compact]. No server may have it open; a sealed file needs no key.
func Compact(ctx context.Context, path string, progress func(done, total int64)) (before, after int64, err error) {
	return boltfile.Compact(ctx, path, progress, verify)
}

// Rebuild replaces or creates the data file at path as a whole: fill is called
// with a Store on a copy, which replaces the file once it is verified and on
// disk: see [boltfile.Rebuild]. fill may take long; its commits are not synced.
func Rebuild(ctx context.Context, path string, o Options, fill func(*Store) error) error {
	o.NoSync = true
	return boltfile.Rebuild(ctx, path, func(temp string) (done boltfile.Filled, err error) {
		s, err := Open(temp, o)
		if err != nil {
			return done, err
		}
		defer s.Close() // closing twice is harmless
		if err := fill(s); err != nil {
			return done, err
		}
		if s.oldSchema > 0 {
			done.KeepInfix = schemaInfix(s.oldSchema)
		}
		done.Anew = s.SealedNow()
		return done, s.Close()
	}, verify)
}
