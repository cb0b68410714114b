package app

import (
	"cmp"
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
	"teamdata/store/pgstore"
	"teamdata/store/seal"
	"teamdata/wire/fixture"
)

// openOrFill opens the data. If there is a seed and no file yet, the file is
// created from the whole seed: a rejected seed leaves nothing behind.
func (a *App) openOrFill(ctx context.Context) error {
	if a.shared() {
		return a.openOrFillDatabase(ctx)
	}
	info, err := os.Stat(a.settings.Data)
	switch {
	case err == nil && info.Size() > 0 && a.settings.Clock != nil:
		return SettingError{hint.New("data file "+a.settings.Data+" exists already, and --test-clock needs a new one, because a reset deletes what is in it",
			"give another path with --data, or delete the file if an earlier test left it")}
	case errors.Is(err, fs.ErrNotExist) && a.settings.Seed != "":
		return a.fill(ctx)
	}
	if err := a.open(ctx); err != nil || a.settings.Seed == "" {
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

// openOrFillDatabase opens a database, and imports the seed if it holds no org.
func (a *App) openOrFillDatabase(ctx context.Context) error {
	if err := a.open(ctx); err != nil {
		return err
	}
	filled, err := a.holdsOrg()
	switch {
	case err != nil:
		return err
	case filled && a.settings.Clock != nil:
		return SettingError{hint.New(a.data.named()+" holds an org already, and --test-clock needs an empty one, because a reset deletes what is in it",
			"give another database with --data, or empty this one if an earlier test left it")}
	case a.settings.Seed == "":
		return nil
	}
	return a.seedOnce(ctx)
}

// seedPause is how long a server waits that starts while another one imports the seed.
const seedPause = 200 * time.Millisecond

// seedOnce imports the seed into a database that holds no org. Of servers that start
// together one does, and the others wait for it.
func (a *App) seedOnce(ctx context.Context) error {
	for {
		held, err := a.store.Hold(ctx, "seed", func(ctx context.Context) error {
			filled, err := a.holdsOrg()
			switch {
			case err != nil:
				return err
			case filled:
				a.log.Info().Str("seed", a.settings.Seed).Msg("the database holds an org already; --seed is ignored")
				return nil
			}
			return a.seed(ctx)
		})
		if held || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(seedPause):
		}
	}
}

// open opens the data, sealed if there is a key for it.
func (a *App) open(ctx context.Context) error {
	o, err := a.options()
	if err != nil {
		return err
	}
	s, err := a.data.open(ctx, o, member{name: cmp.Or(a.settings.Node, pgstore.RandomName()), version: a.settings.Version})
	if err != nil {
		return openError(err)
	}
	a.store = s.Engine
	if a.settings.Clock == nil && a.shared() {
		a.now = s.Now
	}
	if s.warning != "" {
		a.log.Warn().Msg(s.warning)
	}
	if s.sealedNow {
		a.log.Warn().Str("sealKeyFile", a.settings.SealKeyFile).Msg(Sealed)
	}
	if s.from > 0 {
		a.log.Warn().Uint64("fromSchema", s.from).Str("copy", s.kept).Msg(Migrated)
	}
	return nil
}

// opened is an open engine, and what the operator should know of how it was opened.
type opened struct {
	store.Engine
	warning   string // of what is unsafe; may be empty
	sealedNow bool
	from      uint64 // schema of a file that was migrated; 0: it was not
	kept      string // the copy of the file before that
}

// member is a server among those on a database. A command is none.
type member struct {
	name, version string
	exporting     bool // and so changes no record
}

// openError tells data that is not what it should be, which another start doesn't
// change, from a system or a network that fails, and from what passes by itself.
func openError(err error) error {
	file, database := (*boltfile.Error)(nil), (*pgstore.Error)(nil)
	if errors.As(err, &file) && file.Err == nil || errors.As(err, &database) && database.Err == nil && !database.Passes {
		return SettingError{err}
	}
	return err
}

// folder returns the folder of the data file; empty: the data is in no file.
func (a *App) folder() string {
	if file, ok := a.store.(store.FileEngine); ok {
		return filepath.Dir(file.Path())
	}
	return ""
}

// shared reports whether other nodes may work on the data.
func (a *App) shared() bool { return a.data.shared() }

// options returns the options for opening the data file.
func (a *App) options() (boltstore.Options, error) {
	o, err := Options(a.settings.SealKeyFile)
	test := a.settings.Clock != nil
	o.NoSync, o.ForTests = test, test
	if test { // else the engine has its own
		o.Now = a.now
	}
	return o, err
}

// fill imports the seed into a copy that replaces the data file, and opens it.
func (a *App) fill(ctx context.Context) error {
	o, err := a.options()
	if err != nil {
		return err
	}
	sum, _, err := a.data.importFixture(ctx, o, a.settings.Seed, nil)
	if err != nil {
		return seedError(fmt.Errorf("--seed: %w", err))
	}
	a.logFilled(sum)
	return a.open(ctx)
}

func (a *App) logFilled(sum fixture.Summary) {
	if sum.LeftOut != "" {
		a.log.Warn().Str("seed", a.settings.Seed).Msg("left out " + sum.LeftOut)
	}
	a.log.Info().Str("seed", a.settings.Seed).Int("orgs", sum.Orgs).Int("members", sum.Members).
		Int("auditEntries", sum.AuditEntries).Int("apiKeys", sum.APIKeys).Int("endpoints", sum.Endpoints).Msg("filled the data file")
}

// seedError distinguishes a seed that can't be read or is rejected from a full disk.
func seedError(err error) error {
	if errors.Is(err, fs.ErrNotExist) || store.CodeOf(err).Status() < http.StatusInternalServerError {
		return SettingError{err}
	}
	return err
}

// Migrated is the log line for a migrated file.
const Migrated = "the data file now has a newer schema, which the previous teamdata can't read; " +
	"to go back, restore the copy with: teamdata restore; delete the copy once you don't need it"

// Sealed is the log line for a file that was sealed just now.
const Sealed = "the data is now sealed, and opens only with this key: " +
	"keep a copy of the key, apart from the backups; older backups still hold the secrets unsealed"

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

// Check checks a data file or a backup that no server has open, or a database, for
// damage, and calls found with a line for each fault. It changes nothing. The error is
// why the data can't be checked.
func Check(ctx context.Context, data string, found func(fault string)) error {
	return locate(data).check(ctx, found)
}

// CheckSealKey reports whether a data file that no server has open, or a database, is
// sealed. Sealed data that the key in keyFile, if any, doesn't open is an error. It
// changes nothing.
func CheckSealKey(ctx context.Context, data, keyFile string) (sealed bool, err error) {
	o, err := Options(keyFile)
	if err != nil {
		return false, err
	}
	return locate(data).checkKey(ctx, o)
}

// Compact rewrites a data file that no server has open without its free space,
// and returns its sizes in bytes before and after.
func Compact(ctx context.Context, data string, progress func(done, all int64)) (before, after int64, err error) {
	if err := locate(data).fileOnly(compactAdvice); err != nil {
		return 0, 0, err
	}
	return boltstore.Compact(ctx, data, progress)
}

// Restore replaces a data file that no server has open with a verified copy of a
// backup, and returns where the previous file is kept, if there was one.
func Restore(ctx context.Context, backup, data string, now time.Time) (kept string, err error) {
	if err := locate(data).fileOnly(restoreAdvice); err != nil {
		return "", err
	}
	return boltstore.Restore(ctx, backup, data, now)
}

// warnOfEventTypes tells of event types that the operator registered before they were
// built in.
func (a *App) warnOfEventTypes(ctx context.Context) {
	err := a.store.View(ctx, func(tx store.Tx) error {
		types, err := tx.EventTypes()
		for _, e := range types {
			if store.IsBuiltInEventType(e.Name) {
				a.log.Warn().Str("eventType", e.Name).Str("hint", "remove the registered one with: teamdata event-type delete "+e.Name).
					Msg("a registered event type is now built in, and the built-in one applies")
			}
		}
		return err
	})
	if err != nil {
		a.log.Warn().Err(err).Msg("the event types can't be read")
	}
}

// warnOfOperatorOrg tells that the org which is to get the server's signals doesn't exist.
func (a *App) warnOfOperatorOrg(ctx context.Context) {
	if a.settings.OperatorOrg == "" {
		return
	}
	err := a.store.View(ctx, func(tx store.Tx) error {
		_, err := tx.Org(a.settings.OperatorOrg)
		return err
	})
	switch {
	case store.IsNotFound(err):
		a.log.Warn().Str("org", a.settings.OperatorOrg).Str("hint", "create it with: teamdata org create --id "+a.settings.OperatorOrg).
			Msg("the org of --operator-org does not exist, so signals about backups and certificates go nowhere")
	case err != nil:
		a.log.Warn().Err(err).Msg("the org of --operator-org can't be read")
	}
}

// warnOfModes warns about files with secrets that other users can open.
func (a *App) warnOfModes() {
	if runtime.GOOS == "windows" { // there are no such modes
		return
	}
	for _, f := range []struct {
		path   string // of a flag that is not set: nothing is there
		others fs.FileMode
	}{
		{a.settings.Data, 0o077}, // it is ours, and was made with 0600
		{a.settings.SealKeyFile, 0o007},
		{a.settings.TLSKey, 0o007}, // its group is often one of those who serve TLS
	} {
		if info, err := os.Stat(f.path); err == nil && info.Mode().Perm()&f.others != 0 {
			a.log.Warn().Str("file", f.path).Stringer("mode", info.Mode().Perm()).
				Msg("other users can open this file, and it holds secrets; fix it with: chmod 600 " + f.path)
		}
	}
}
