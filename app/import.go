package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"teamdata/internal/hint"
	"teamdata/internal/terminal"
	"teamdata/store"
	"teamdata/wire/fixture"
)

// Import fills a copy of a data file, which replaces the file once the whole
// fixture is in it. sealed reports whether that sealed the file.
func Import(ctx context.Context, data, keyFile, name string, progress func(fixture.Summary)) (sum fixture.Summary, sealed bool, err error) {
	o, err := Options(keyFile)
	if err != nil {
		return sum, false, err
	}
	return locate(data).importFixture(ctx, o, name, progress)
}

// importOpen imports a fixture into open data.
func importOpen(ctx context.Context, s store.Store, data location, name string, progress func(fixture.Summary)) (sum fixture.Summary, err error) {
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
func openInput(ctx context.Context, name string, data location) (*os.File, error) {
	in := os.Stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, hint.With(err, "give the path of a fixture, or - for the standard input")
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
func spool(ctx context.Context, in io.Reader, data location) (*os.File, error) {
	folder, base := data.spool()
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
		n    int
		noun string
	}{
		{s.Orgs, "org"}, {s.Members, "member"}, {s.AuditEntries, "audit entry"}, {s.APIKeys, "API key"}, {s.Endpoints, "endpoint"},
		{s.Plans, "plan"}, {s.EventTypes, "event type"}, {s.OperatorTokens, "operator token"},
	} {
		if kind.n > 0 {
			parts = append(parts, terminal.Count(kind.n, kind.noun))
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
