package app

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/e2e/kit"
	"teamdata/store/boltstore"
)

// newBackups are backups of a real store, with a clock to set.
func newBackups(t *testing.T) (b *backups, now *time.Time) {
	t.Helper()
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true})
	kit.Must(t, err)
	t.Cleanup(func() { s.Close() })
	clock := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	return &backups{
		dir: filepath.Join(t.TempDir(), "backups"), every: time.Hour, keep: 3,
		make: s.Backup, now: func() time.Time { return clock }, log: zerolog.Nop(),
	}, &clock
}

func names(b *backups) []string {
	names, _ := backupsIn(b.dir, b.now())
	return names
}

// TestBackupsKeepTheNewest: of our own files the newest stay, and all of what is
// another's.
func TestBackupsKeepTheNewest(t *testing.T) {
	b, now := newBackups(t)
	if wait := b.untilDue(); wait != 0 {
		t.Errorf("the first is due in %v", wait)
	}
	if wait := b.next(t.Context()); wait != b.every {
		t.Errorf("the second is due in %v", wait)
	}
	others := []string{"teamdata.db", "teamdata-2026.db", "teamdata-20261121T115959Z.db.gz", ".bashrc.backup-7", "notes"}
	stale := ".teamdata-20261121T115959Z.db.backup-7"
	for _, name := range append(others, stale) {
		kit.WriteFile(t, filepath.Join(b.dir, name), "x")
	}
	for range 5 {
		*now = now.Add(b.every)
		b.next(t.Context())
	}
	want := append(others, "teamdata-20261121T150000Z.db", "teamdata-20261121T160000Z.db", "teamdata-20261121T170000Z.db")
	slices.Sort(want)
	if got := namesIn(t, b.dir); !slices.Equal(got, want) {
		t.Errorf("there are %v, not %v", got, want)
	}
	if info, err := os.Stat(b.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info, err)
	}
	for _, name := range names(b) {
		if err := boltstore.Check(filepath.Join(b.dir, name), func(fault string) { t.Errorf("%s: %s", name, fault) }); err != nil {
			t.Error(err)
		}
	}
}

func namesIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	kit.Must(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// TestBackupsDue: a restart goes on where the newest file says, whatever the
// clock does.
func TestBackupsDue(t *testing.T) {
	b, now := newBackups(t)
	b.next(t.Context())
	made := *now
	for after, want := range map[time.Duration]time.Duration{
		0: time.Hour, 20 * time.Minute: 40 * time.Minute, time.Hour: 0, 100 * time.Hour: 0, -100 * time.Hour: 0,
	} {
		if *now = made.Add(after); b.untilDue() != want {
			t.Errorf("after %v the next is due in %v, not %v", after, b.untilDue(), want)
		}
	}
}

// TestBackupsOfTheFuture: names that a clock gave which was ahead are told, and
// neither count as the newest nor push out those that are made now.
func TestBackupsOfTheFuture(t *testing.T) {
	b, now := newBackups(t)
	var log bytes.Buffer
	b.log = zerolog.New(&log)
	*now = now.AddDate(1, 0, 0)
	for range b.keep {
		b.next(t.Context())
		*now = now.Add(b.every)
	}
	ahead := namesIn(t, b.dir)
	*now = now.AddDate(-1, 0, 0)
	if wait := b.untilDue(); wait != 0 {
		t.Errorf("after the clock was set back the next is due in %v", wait)
	}
	for n := 1; n <= b.keep+1; n++ {
		if wait := b.next(t.Context()); wait != b.every {
			t.Errorf("the next is due in %v", wait)
		}
		made := now.UTC().Format(backupName)
		if names := namesIn(t, b.dir); !slices.Contains(names, made) || len(names) != len(ahead)+min(n, b.keep) || !slices.Contains(names, ahead[0]) {
			t.Errorf("after %s was made, there are %v", made, names)
		}
		*now = now.Add(b.every)
	}
	if !strings.Contains(log.String(), ahead[0]) || !strings.Contains(log.String(), "in the future") {
		t.Errorf("the log says:\n%s", &log)
	}
}

// TestFutureBackupIsNoSuccess: the alert for want of backups is not silenced by a
// name in the future.
func TestFutureBackupIsNoSuccess(t *testing.T) {
	dir := t.TempDir()
	a := &App{settings: Settings{BackupDir: dir}}
	kit.WriteFile(t, filepath.Join(dir, time.Now().AddDate(1, 0, 0).UTC().Format(backupName)), "")
	if newest, ok := a.newestBackup(); !ok || !newest.IsZero() {
		t.Errorf("the newest backup is of %v", newest)
	}
}

// TestBackupsFail: what fails is tried again soon, and counts as nothing.
func TestBackupsFail(t *testing.T) {
	b, now := newBackups(t)
	whole := b.make
	b.make = func(context.Context, string) error { return errors.New("the disk is full") }
	if wait := b.next(t.Context()); wait != 5*time.Minute || len(names(b)) != 0 {
		t.Errorf("tried again in %v, there are %v", wait, names(b))
	}
	b.every = time.Minute
	if wait := b.next(t.Context()); wait != time.Minute {
		t.Errorf("with one a minute, tried again in %v", wait)
	}
	b.every = time.Hour
	b.make = whole
	for range 4 {
		*now = now.Add(5 * time.Minute)
		if wait := b.next(t.Context()); wait != b.every {
			t.Errorf("the next is due in %v", wait)
		}
	}
	b.dir = filepath.Join(b.dir, "no", "folder")
	if wait := b.next(t.Context()); wait != 5*time.Minute {
		t.Errorf("without a folder it is tried again in %v", wait)
	}
}

// TestBackupsRun makes backups while time passes, until it is stopped.
func TestBackupsRun(t *testing.T) {
	b, _ := newBackups(t)
	ctx, cancel := context.WithCancel(t.Context())
	whole, made := b.make, 0
	start := time.Now()
	b.now = func() time.Time { return start.Add(time.Duration(made) * b.every) } // each is due at once
	b.make = func(ctx context.Context, to string) error {
		if made++; made == 4 {
			cancel()
		}
		return whole(ctx, to)
	}
	(&App{}).repeat(ctx, b.job())
	if got := len(names(b)); made != 4 || got != b.keep {
		t.Errorf("%d were made, and %d are there", made, got)
	}
}
