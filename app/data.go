package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"teamdata/internal/hint"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/boltstore/boltfile"
	"teamdata/store/seal"
)

// openOrFill opens the data file. If there is a seed and no file yet, the file is
// created from the whole seed: a rejected seed leaves nothing behind.
func (a *App) openOrFill(ctx context.Context) error {
	info, err := os.Stat(a.settings.Data)
	switch {
	case err == nil && info.Size() > 0 && a.settings.Clock != nil:
		return SettingError{hint.New("data file "+a.settings.Data+" exists already, and --test-clock needs a new one, because a reset deletes what is in it",
			"give another path with --data, or delete the file if an earlier test left it")}
	case errors.Is(err, fs.ErrNotExist) && a.settings.Seed != "":
		return a.fill(ctx)
	}
	if err := a.open(); err != nil || a.settings.Seed == "" {
		return err
	}
	filled, err := a.holdsOrg()
	switch {
	case err != nil:
		return err
	case filled:
		a.log.Info().Str("seed", a.settings.Seed).Msg("the data file holds an org already; --seed is ignored")
		return nil
	}
	if err := a.store.Close(); err != nil {
		return err
	}
	return a.fill(ctx)
}

// open opens the data file, sealed if there is a key for it.
func (a *App) open() error {
	o, err := a.options()
	if err != nil {
		return err
	}
	s, err := boltstore.Open(a.settings.Data, o)
	if err != nil {
		if wrong := (*boltfile.Error)(nil); errors.As(err, &wrong) && wrong.Err == nil {
			return SettingError{err} // the file is not what it should be, and no system call failed
		}
		return err
	}
	a.store = s
	if s.SealedNow() {
		a.log.Warn().Str("sealKeyFile", a.settings.SealKeyFile).Msg(Sealed)
	}
	if from, kept := s.MigratedFrom(); from > 0 {
		a.log.Warn().Uint64("fromSchema", from).Str("copy", kept).Msg(Migrated)
	}
	return nil
}

// folder returns the folder of the data file; empty: the data is in no file.
func (a *App) folder() string {
	if file, ok := a.store.(store.FileEngine); ok {
		return filepath.Dir(file.Path())
	}
	return ""
}

// options returns the options for opening the data file.
func (a *App) options() (boltstore.Options, error) {
	o, err := Options(a.settings.SealKeyFile)
	test := a.settings.Clock != nil
	o.Now, o.NoSync, o.HTTPOnLoopback = a.now, test, test
	return o, err
}

// fill imports the seed into a copy that replaces the data file, and opens it.
func (a *App) fill(ctx context.Context) error {
	o, err := a.options()
	if err != nil {
		return err
	}
	sum, _, err := importInto(ctx, a.settings.Data, o, a.settings.Seed, nil)
	if err != nil {
		return seedError(fmt.Errorf("--seed: %w", err))
	}
	a.log.Info().Str("seed", a.settings.Seed).Int("orgs", sum.Orgs).Int("members", sum.Members).
		Int("auditEntries", sum.AuditEntries).Int("apiKeys", sum.APIKeys).Int("endpoints", sum.Endpoints).Msg("filled the data file")
	return a.open()
}

// seedError distinguishes a seed that can't be read or is rejected from a full disk.
func seedError(err error) error {
	if errors.Is(err, fs.ErrNotExist) || store.CodeOf(err).Status() < http.StatusInternalServerError {
		return SettingError{err}
	}
	return err
}

// Migrated is the log line for a migrated file.
const Migrated = "the data file is of a newer schema from now on, which the teamdata before can't read; " +
	"to go back to that, put back the copy with: teamdata restore; delete the copy once you won't go back"

// Sealed is the log line for a file that was sealed just now.
const Sealed = "the data file is sealed from now on, and opens with this key alone: " +
	"keep a copy of the key, apart from the backups; secrets written before are in older backups"

// Options returns the options for opening a data file, sealed if there is a key
// file.
func Options(keyFile string) (o boltstore.Options, err error) {
	if keyFile == "" {
		return o, nil
	}
	if o.Sealer, err = seal.ReadKeyFile(keyFile); err != nil {
		return o, SettingError{fmt.Errorf("--seal-key-file: %w", err)}
	}
	return o, nil
}

// ErrOlderSchema is the cause of an error of [Check] about a file that the next
// serve will migrate.
var ErrOlderSchema = boltstore.ErrOlderSchema

// Check checks a data file or a backup that no server has open for damage, and
// calls found with a line for each fault. It changes nothing. The error is why
// the file can't be checked.
func Check(data string, found func(fault string)) error { return boltstore.Check(data, found) }

// CheckSealKey reports whether a data file that no server has open is sealed. A
// sealed file that the key in keyFile, if any, doesn't open is an error. It
// changes nothing.
func CheckSealKey(data, keyFile string) (sealed bool, err error) {
	o, err := Options(keyFile)
	if err != nil {
		return false, err
	}
	return boltstore.CheckKey(data, o.Sealer)
}

// Compact rewrites a data file that no server has open without its free space,
// and returns its sizes in bytes before and after.
func Compact(ctx context.Context, data string, progress func(done, all int64)) (before, after int64, err error) {
	return boltstore.Compact(ctx, data, progress)
}

// Restore replaces a data file that no server has open with a verified copy of a
// backup, and returns where the previous file is kept, if there was one.
func Restore(ctx context.Context, backup, data string, now time.Time) (kept string, err error) {
	return boltstore.Restore(ctx, backup, data, now)
}

// warnOfModes warns about files with secrets that other users can open.
func (a *App) warnOfModes() {
	if runtime.GOOS == "windows" { // there are no such modes
		return
	}
	const others, groupToo = 0o007, 0o077
	s := &a.settings
	a.warnOfMode(s.Data, groupToo) // it is ours, and was made with 0600
	a.warnOfMode(s.SealKeyFile, others)
	a.warnOfMode(s.TLSKey, others) // its group is often one of those who serve TLS
}

func (a *App) warnOfMode(file string, not fs.FileMode) {
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm()&not == 0 {
		return // the file of a flag that is not set is not there
	}
	a.log.Warn().Str("file", file).Stringer("mode", info.Mode().Perm()).
		Msg("other users can open this file, and it holds secrets; fix it with: chmod 600 " + file)
}
