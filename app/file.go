package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"teamdata/internal/hint"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/boltstore/boltfile"
	"teamdata/wire/fixture"
)

// file is the location of data in a file: its path.
type file string

func (f file) String() string { return string(f) }

func (f file) named() string { return "data file " + string(f) }

func (f file) shared() bool { return false }

var (
	urlForm       = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:/`)
	parameterForm = regexp.MustCompile(`^[a-z_]+\s*=`)
)

func (f file) checkForm(flag string) error {
	data, what := string(f), ""
	switch {
	case strings.TrimSpace(data) != data:
		what = "begins or ends with a space or a line break"
	case strings.ContainsFunc(data, isInvisible):
		what = "holds a character that is not visible"
	case data != "" && strings.ContainsRune(`"'`, rune(data[0])):
		what = "begins with a quotation mark"
	case urlForm.MatchString(data):
		what = "is a URL, but does not begin with postgres:// in lower case"
	case parameterForm.MatchString(data):
		what = "is a list of parameters, such as host=…"
	default:
		return nil
	}
	return hint.New(flag+" "+what, "write postgres://ROLE@HOST:5432/DATABASE for a database, or put ./ before the path if it is a file")
}

// isInvisible reports whether nothing of a character is seen in a path, as of a mark of the
// order of bytes.
func isInvisible(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) }

// The advice for commands that work on whole files.
const (
	dumpAdvice    = "back up a database with pg_dump, or with the tools of its host"
	restoreAdvice = "restore a database with pg_restore, or with the tools of its host"
	compactAdvice = "PostgreSQL's autovacuum makes free space available again; VACUUM FULL returns it to the disk"
)

func (f file) fileOnly(string) error { return nil }

func (f file) hasPassword() (bool, error) { return false, nil }

func (f file) missing() error {
	if _, err := os.Stat(string(f)); errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f file) beside(string) string { return string(f) }

func (f file) spool() (folder, base string) {
	if folder, base = filepath.Split(string(f)); folder == "" {
		folder = "."
	}
	return folder, base
}

func (f file) open(_ context.Context, o boltstore.Options, _ member) (opened, error) {
	s, err := boltstore.Open(string(f), o)
	if err != nil {
		return opened{}, err
	}
	from, kept := s.MigratedFrom()
	return opened{Engine: s, sealedNow: s.SealedNow(), from: from, kept: kept}, nil
}

func (f file) check(_ context.Context, found func(fault string)) error {
	return boltstore.Check(string(f), found)
}

func (f file) checkKey(_ context.Context, o boltstore.Options) (sealed bool, err error) {
	return boltstore.CheckKey(string(f), o.Sealer)
}

// importFixture fills a copy of the file, which replaces it once the whole fixture is in it.
func (f file) importFixture(ctx context.Context, o boltstore.Options, name string, progress func(fixture.Summary)) (sum fixture.Summary, sealed bool, err error) {
	in, err := openInput(ctx, name, f)
	if err != nil {
		return sum, false, err
	}
	defer in.Close()
	err = boltstore.Rebuild(ctx, string(f), o, func(s *boltstore.Store) (err error) {
		sealed = s.SealedNow()
		if sum, err = fixture.Import(ctx, s, in, progress); err != nil {
			err = fmt.Errorf("%s: %w; nothing was imported", name, err)
		}
		return err
	})
	switch {
	case errors.Is(err, context.Canceled):
		err = fmt.Errorf("%s: stopped before the end; data file %s is as it was", name, string(f))
	case errors.Is(err, boltfile.ErrInUse):
		err = hint.With(err, "or leave the server running and fill it through its admin API, as docs/admin-api.md says")
	}
	return sum, sealed, err
}

// exportFixture exports a copy of the file, which a server may have open.
func (f file) exportFixture(ctx context.Context, o boltstore.Options, w io.Writer, secrets bool, progress func(fixture.Summary)) error {
	folder, remove, err := boltfile.TempFolder(string(f), "export")
	if err != nil {
		return err
	}
	defer remove()
	path := filepath.Join(folder, "copy.db")
	if err := (Source{Data: string(f)}).Backup(ctx, path, io.Discard); err != nil {
		return err
	}
	o.NoSync = true
	s, err := boltstore.Open(path, o)
	if err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), path, string(f)))
	}
	defer s.Close()
	remove() // it is open; a killed export leaves nothing behind
	return fixture.Export(ctx, s, w, secrets, progress)
}

func (f file) read(_ context.Context, o boltstore.Options, _ location, fn func(store.Source) error) error {
	return boltstore.ReadFile(string(f), o.Sealer, fn)
}

func (f file) fill(ctx context.Context, o boltstore.Options, fn func(store.Carrier) error) error {
	if _, err := os.Lstat(string(f)); !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return err
		}
		return hint.New(f.named()+" already exists", "give a path where there is nothing, or move the file away")
	}
	return boltstore.Rebuild(ctx, string(f), o, func(s *boltstore.Store) error { return fn(s) })
}
