package app

import (
	"context"
	"errors"
	"io"

	"teamdata/internal/atomicfile"
	"teamdata/wire/fixture"
)

// Export is an export to be made.
type Export struct {
	Data        string
	SealKeyFile string // empty: the data file is not sealed
	To          string // a file, or - for stdout
	Force       bool   // overwrite an existing file
	Secrets     bool   // with the values of endpoints' headers, and the keys of their client certificates
}

// Run exports to stdout, or to a file that gets its name only once it is complete.
func (x *Export) Run(ctx context.Context, stdout io.Writer, progress func(fixture.Summary)) (sum fixture.Summary, err error) {
	o, err := Options(x.SealKeyFile)
	if err != nil {
		return sum, err
	}
	write := func(w io.Writer) error { // of a copy of the data file, or of a database
		return locate(x.Data).exportFixture(ctx, o, w, x.Secrets, func(s fixture.Summary) { sum = s; progress(s) })
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
