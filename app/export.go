package app

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"teamdata/internal/atomicfile"
	"teamdata/store/boltstore"
	"teamdata/store/boltstore/boltfile"
	"teamdata/wire/fixture"
)

// Export is an export to be made.
type Export struct {
	Data        string
	SealKeyFile string // empty: the data file is not sealed
	To          string // a file, or - for stdout
	Force       bool   // write over a file that is there
}

// Run exports to stdout, or to a file that gets its name only once it is complete.
func (x *Export) Run(ctx context.Context, stdout io.Writer, progress func(fixture.Summary)) (sum fixture.Summary, err error) {
	write := func(w io.Writer) error {
		return x.export(ctx, w, func(s fixture.Summary) { sum = s; progress(s) })
	}
	if x.To == "-" {
		err = write(stdout)
	} else {
		err = atomicfile.Create(x.To, x.Force, write)
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("stopped before the end")
	}
	return sum, err
}

// export writes the content of a copy of the data file, or of a database.
func (x *Export) export(ctx context.Context, w io.Writer, progress func(fixture.Summary)) error {
	o, err := Options(x.SealKeyFile)
	if err != nil {
		return err
	}
	if IsDatabase(x.Data) {
		s, err := open(ctx, x.Data, o, member{exporting: true})
		if err != nil {
			return err
		}
		defer s.Close()
		return fixture.Export(ctx, s, w, progress)
	}
	folder, remove, err := boltfile.TempFolder(x.Data, "export")
	if err != nil {
		return err
	}
	defer remove()
	path := filepath.Join(folder, "copy.db")
	if err := (Source{Data: x.Data}).Backup(ctx, path, io.Discard); err != nil {
		return err
	}
	o.NoSync = true
	s, err := boltstore.Open(path, o)
	if err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), path, x.Data))
	}
	defer s.Close()
	remove() // it is open; a killed export leaves nothing behind
	return fixture.Export(ctx, s, w, progress)
}
