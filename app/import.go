package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"teamdata/internal/hint"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/wire/fixture"
)

// Import fills a copy of a data file, which replaces the file once the whole
// fixture is in it. sealed reports whether that sealed the file.
func Import(ctx context.Context, data, keyFile, name string, progress func(fixture.Summary)) (sum fixture.Summary, sealed bool, err error) {
	o, err := Options(keyFile)
	if err != nil {
		return sum, false, err
	}
	if IsDatabase(data) {
		return importIntoDatabase(ctx, data, o, name, progress)
	}
	return importInto(ctx, data, o, name, progress)
}

func importInto(ctx context.Context, data string, o boltstore.Options, name string, progress func(fixture.Summary)) (sum fixture.Summary, sealed bool, err error) {
	in, err := openInput(ctx, name, data)
	if err != nil {
		return sum, false, err
	}
	defer in.Close()
	err = boltstore.Rebuild(ctx, data, o, func(s *boltstore.Store) (err error) {
		sealed = s.SealedNow()
		if sum, err = fixture.Import(ctx, s, in, progress); err != nil {
			err = fmt.Errorf("%s: %w; nothing was imported", name, err)
		}
		return err
	})
	switch {
	case errors.Is(err, context.Canceled):
		err = fmt.Errorf("%s: stopped before the end; data file %s is as it was", name, data)
	case errors.Is(err, boltstore.ErrInUse):
		err = hint.With(err, "or leave the server running and fill it through its admin API, as docs/admin-api.md says")
	}
	return sum, sealed, err
}

// importIntoDatabase fills a database. A fixture that is not valid leaves it as it was;
// one that is stopped by anything else leaves what came before.
func importIntoDatabase(ctx context.Context, data string, o boltstore.Options, name string, progress func(fixture.Summary)) (sum fixture.Summary, sealed bool, err error) {
	s, err := open(ctx, data, o, member{})
	if err != nil {
		return sum, false, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	sum, err = importOpen(ctx, s, data, name, progress)
	return sum, s.sealedNow, err
}

// importOpen imports a fixture into open data.
func importOpen(ctx context.Context, s store.Store, data, name string, progress func(fixture.Summary)) (sum fixture.Summary, err error) {
	in, err := openInput(ctx, name, data)
	if err != nil {
		return sum, err
	}
	defer in.Close()
	if sum, err = fixture.Import(ctx, s, in, progress); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return sum, err
}

// openInput opens a file that is read twice, or stdin. Input that can be read
// only once is spooled next to the data file.
func openInput(ctx context.Context, name, data string) (*os.File, error) {
	in := os.Stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		in = file
	}
	info, err := in.Stat()
	if err == nil && info.Mode().IsRegular() {
		return in, nil
	}
	defer in.Close()
	if err == nil && info.IsDir() {
		return nil, hint.New(name+" is a folder", "give the path of a fixture")
	}
	return spool(ctx, in, data)
}

// spool copies a stream to an unnamed file, deleted on close.
func spool(ctx context.Context, in io.Reader, data string) (*os.File, error) {
	folder, base := filepath.Split(data)
	if IsDatabase(data) {
		folder, base = "", "teamdata" // among the temporary files
	} else if folder == "" {
		folder = "."
	}
	file, err := os.CreateTemp(folder, "."+base+".import-*") // with mode 0600
	if err != nil {
		return nil, err
	}
	os.Remove(file.Name())
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(file, io.LimitReader(in, fixture.MaxSize+1))
		copied <- err
	}()
	select {
	case err = <-copied:
	case <-ctx.Done(): // a read from a terminal or a pipe knows no context
		err = errors.New("stopped before the end; nothing was imported")
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Counted describes the number of records of a fixture.
func Counted(s fixture.Summary) string {
	var parts []string
	for _, kind := range []struct {
		n         int
		one, many string
	}{
		{s.Orgs, "org", "orgs"}, {s.Members, "member", "members"}, {s.AuditEntries, "audit entry", "audit entries"},
		{s.APIKeys, "API key", "API keys"}, {s.Endpoints, "endpoint", "endpoints"}, {s.Plans, "plan", "plans"},
		{s.EventTypes, "event type", "event types"}, {s.OperatorTokens, "operator token", "operator tokens"},
	} {
		switch kind.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+kind.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", kind.n, kind.many))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing"}
	}
	counted := strings.Join(parts, ", ")
	if s.LeftOut != "" {
		counted += ", without " + s.LeftOut
	}
	return counted
}
