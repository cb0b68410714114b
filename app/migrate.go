package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"teamdata/internal/hint"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/pgstore"
)

// Migration carries all data to a place that holds none.
type Migration struct {
	From, To    string // as in --data
	SealKeyFile string // of sealed data; empty: it is in plain text
	// Progress is told the number of records of a kind that were carried, or read back.
	Progress func(kind store.Kind, n int, readBack bool)
}

// Run locks the source, and makes the data at To in one step, once it holds the same.
// Whatever fails before and whenever the process is killed, nothing is there, and it can
// run again.
func (m Migration) Run(ctx context.Context) (carried store.Carried, err error) {
	o, err := Options(m.SealKeyFile)
	if err != nil {
		return carried, err
	}
	if Place(m.From) == Place(m.To) {
		return carried, SettingError{hint.New("--from and --to are the same: "+Named(m.From), "give another place in --to")}
	}
	err = m.readAll(ctx, o, func(from store.Source) error {
		return fill(ctx, m.To, o, func(to store.Carrier) (err error) {
			carried, err = store.Carry(ctx, from, to, m.Progress)
			return err
		})
	})
	return carried, err
}

// readAll calls fn with the source, which nobody else uses.
func (m Migration) readAll(ctx context.Context, o boltstore.Options, fn func(store.Source) error) error {
	if !IsDatabase(m.From) {
		return boltstore.ReadFile(m.From, o.Sealer, fn)
	}
	target, err := pgstore.ParseTarget(m.From)
	if err != nil {
		return SettingError{err}
	}
	return pgstore.Read(ctx, target, o.Sealer, Named(m.To), fn)
}

// fill calls fn with an empty engine, whose data is there once fn returns nil.
func fill(ctx context.Context, data string, o boltstore.Options, fn func(store.Carrier) error) error {
	if IsDatabase(data) {
		target, err := pgstore.ParseTarget(data)
		if err != nil {
			return SettingError{err}
		}
		return pgstore.Fill(ctx, target, o.Sealer, fn)
	}
	if _, err := os.Lstat(data); !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return err
		}
		return hint.New(fmt.Sprintf("%s is there already", Named(data)), "give a path where there is nothing, or move the file away")
	}
	return boltstore.Rebuild(ctx, data, o, func(s *boltstore.Store) error { return fn(s) })
}
