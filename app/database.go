package app

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"teamdata/internal/hint"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/pgstore"
	"teamdata/wire/fixture"
)

// database is the location of data in a PostgreSQL database: its URL.
type database string

// target reads the URL.
func (d database) target() (*pgstore.Target, error) {
	target, err := pgstore.ParseTarget(string(d))
	if err != nil {
		return nil, SettingError{err}
	}
	return target, nil
}

func (d database) String() string {
	target, err := d.target()
	if err != nil {
		return "postgres://…"
	}
	return target.String()
}

func (d database) named() string { return "database " + d.String() }

func (d database) shared() bool { return true }

func (d database) checkForm(string) error {
	_, err := pgstore.ParseTarget(string(d))
	return err
}

func (d database) fileOnly(advice string) error {
	return SettingError{hint.New("--data is "+d.named()+", and this command works on a data file", advice)}
}

func (d database) hasPassword() (bool, error) {
	target, err := pgstore.ParseTarget(string(d))
	return err == nil && target.HasPassword(), err
}

func (d database) missing() error { return nil }

func (d database) beside(stateDir string) string { return filepath.Join(stateDir, "teamdata") }

func (d database) spool() (folder, base string) { return "", "teamdata" } // among the temporary files

func (d database) open(ctx context.Context, o boltstore.Options, m member) (opened, error) {
	target, err := d.target()
	if err != nil {
		return opened{}, err
	}
	s, err := pgstore.Open(ctx, target, pgstore.Options{Now: o.Now, Sealer: o.Sealer, ForTests: o.ForTests,
		Node: m.name, Version: m.version, Exporting: m.exporting})
	if err != nil {
		return opened{}, err
	}
	return opened{Engine: s, warning: target.Warning(), sealedNow: s.SealedNow()}, nil
}

func (d database) check(ctx context.Context, found func(fault string)) error {
	target, err := d.target()
	if err != nil {
		return err
	}
	return pgstore.Check(ctx, target, found)
}

func (d database) checkKey(ctx context.Context, o boltstore.Options) (sealed bool, err error) {
	target, err := d.target()
	if err != nil {
		return false, err
	}
	return pgstore.CheckKey(ctx, target, o.Sealer)
}

// importFixture leaves the database as it was if the fixture is not valid. Anything else
// that stops the import leaves what came before.
func (d database) importFixture(ctx context.Context, o boltstore.Options, name string, progress func(fixture.Summary)) (sum fixture.Summary, sealed bool, err error) {
	s, err := d.open(ctx, o, member{})
	if err != nil {
		return sum, false, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	sum, err = importOpen(ctx, s, d, name, progress)
	return sum, s.sealedNow, err
}

func (d database) exportFixture(ctx context.Context, o boltstore.Options, w io.Writer, secrets bool, progress func(fixture.Summary)) error {
	s, err := d.open(ctx, o, member{exporting: true})
	if err != nil {
		return err
	}
	defer s.Close()
	return fixture.Export(ctx, s, w, secrets, progress)
}

func (d database) read(ctx context.Context, o boltstore.Options, to location, fn func(store.Source) error) error {
	target, err := d.target()
	if err != nil {
		return err
	}
	return pgstore.Read(ctx, target, o.Sealer, to.named(), fn)
}

func (d database) fill(ctx context.Context, o boltstore.Options, fn func(store.Carrier) error) error {
	target, err := d.target()
	if err != nil {
		return err
	}
	return pgstore.Fill(ctx, target, o.Sealer, fn)
}

// Inspection is the state of a database, for doctor.
type Inspection = pgstore.Inspection

// DatabaseConnections is how many connections a server opens to its database at most.
const DatabaseConnections = pgstore.ServerConnections

// Inspect looks at the database that --data names and changes nothing. The error is
// why it can't be reached. A warning says what is unsafe about the connection; it is
// empty if nothing is.
func Inspect(ctx context.Context, data string) (i Inspection, warning string, err error) {
	target, err := pgstore.ParseTarget(data)
	if err != nil {
		return i, "", err
	}
	i, err = pgstore.Inspect(ctx, target)
	return i, target.Warning(), err
}
