package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"teamdata/internal/atomicfile"
	"teamdata/internal/hint"
	"teamdata/store"
)

// backupRetry is the delay before retrying a failed backup.
const backupRetry = 5 * time.Minute

const backupName = "teamdata-20060102T150405Z.db" // the time in UTC

// unfinished matches the temp files of backups that a killed run left behind.
var unfinished = regexp.MustCompile(`^\.teamdata-\d{8}T\d{6}Z\.db\.backup-\d+$`)

// backups makes periodic copies of the open data file in a separate folder, and
// keeps the newest.
type backups struct {
	dir   string
	every time.Duration
	keep  int
	make  func(ctx context.Context, to string) error
	now   func() time.Time
	log   zerolog.Logger

	signal   func(ctx context.Context, reason string) error // to the operator's org; nil: there is none
	signaled time.Time                                      // when it was last told that backups fail; zero: they don't
}

func (a *App) backups(file store.FileEngine) *backups {
	b := &backups{
		dir: a.settings.BackupDir, every: a.settings.BackupEvery, keep: a.settings.BackupKeep,
		make: file.Backup, now: time.Now, log: a.log,
	}
	if org := a.settings.OperatorOrg; org != "" {
		b.signal = func(ctx context.Context, reason string) error {
			return a.store.Update(ctx, store.InOrg(org), func(tx store.Tx) error { return store.SignalBackupFailed(tx, org, reason) })
		}
	}
	return b
}

// job makes each backup when it is due. Its first run only looks when that is: a folder
// that is slow to read holds up no other job.
func (b *backups) job() job {
	wait := time.Duration(-1) // not known yet
	return job{
		next: func() time.Duration { return wait },
		do: func(ctx context.Context) error { // next logs what it could not do
			if wait < 0 {
				wait = b.untilDue()
			} else {
				wait = b.next(ctx)
			}
			return nil
		},
	}
}

// next makes a backup, and returns how long to wait for the one after it.
func (b *backups) next(ctx context.Context) (wait time.Duration) {
	path, err := b.one(ctx)
	switch {
	case ctx.Err() != nil:
		return b.every
	case err != nil:
		b.log.Error().Fields(hint.Fields(err)).Str("dir", b.dir).Dur("retryIn", backupRetry).Msg("a backup can't be made")
		b.signalFailed(ctx, err)
		return min(backupRetry, b.every)
	}
	b.signaled = time.Time{}
	b.log.Info().Str("file", path).Msg("made a backup")
	return b.untilDue()
}

// signalFailed signals that a backup failed, once for each that was due: not again when it is
// retried.
func (b *backups) signalFailed(ctx context.Context, failed error) {
	if b.signal == nil || !b.signaled.IsZero() && b.now().Sub(b.signaled) < b.every {
		return
	}
	if err := b.signal(ctx, failed.Error()); err != nil {
		b.log.Error().Fields(hint.Fields(err)).Msg("the signal of a failed backup can't be stored")
		return
	}
	b.signaled = b.now()
}

// one makes a backup now, then deletes the oldest ones beyond the limit.
func (b *backups) one(ctx context.Context) (path string, err error) {
	if err := b.makeFolder(); err != nil {
		return "", fmt.Errorf("--backup-dir: %w", err)
	}
	b.dropUnfinished()
	path = filepath.Join(b.dir, b.now().UTC().Format(backupName))
	if err := b.make(ctx, path); err != nil {
		return "", err
	}
	return path, b.dropOld()
}

// makeFolder creates the folder if it is missing, and syncs its name to disk.
func (b *backups) makeFolder() error {
	err := os.Mkdir(b.dir, 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return atomicfile.SyncFolder(filepath.Clean(b.dir))
}

// untilDue returns how long until the next backup is due.
func (b *backups) untilDue() time.Duration {
	_, newest, ok := NewestBackup(b.dir, b.now())
	if !ok {
		return 0
	}
	return max(newest.Add(b.every).Sub(b.now()), 0)
}

// backupsIn lists our backups in a folder, newest first: those up to now, and those with
// names in the future, made while the clock was ahead. These don't count.
func backupsIn(dir string, now time.Time) (names, future []string) {
	entries, _ := os.ReadDir(dir) // by name; an error is logged when the next is made
	for _, entry := range slices.Backward(entries) {
		made, err := time.Parse(backupName, entry.Name())
		switch {
		case err != nil || !entry.Type().IsRegular():
		case made.After(now):
			future = append(future, entry.Name())
		default:
			names = append(names, entry.Name())
		}
	}
	return names, future
}

// NewestBackup returns the newest backup up to now that serve made in a folder,
// and its time; ok is false if there is none. Later names are from a clock that
// was ahead.
func NewestBackup(dir string, now time.Time) (path string, made time.Time, ok bool) {
	names, _ := backupsIn(dir, now)
	if len(names) == 0 {
		return "", made, false
	}
	made, err := time.Parse(backupName, names[0])
	return filepath.Join(dir, names[0]), made, err == nil
}

func (b *backups) dropOld() error {
	names, future := backupsIn(b.dir, b.now())
	if len(future) > 0 {
		b.log.Warn().Str("dir", b.dir).Strs("files", future).
			Msg("the names of these backups lie in the future, because the clock is wrong, or was. They are neither counted nor deleted until then: delete them yourself once you don't need them")
	}
	for _, name := range names[min(b.keep, len(names)):] {
		if err := os.Remove(filepath.Join(b.dir, name)); err != nil {
			return fmt.Errorf("an old backup can't be removed: %w", err)
		}
	}
	return nil
}

func (b *backups) dropUnfinished() {
	entries, _ := os.ReadDir(b.dir)
	for _, entry := range entries {
		if unfinished.MatchString(entry.Name()) {
			os.Remove(filepath.Join(b.dir, entry.Name()))
		}
	}
}
