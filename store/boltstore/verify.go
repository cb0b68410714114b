package boltstore

import (
	"context"
	"fmt"

	"go.etcd.io/bbolt"
)

// verify is Check for a file of any schema that we know; of an older one it
// checks the pages. Faults are an error. Once ctx is done nobody waits for it.
func verify(ctx context.Context, path string) error {
	sound := make(chan error, 1)
	go func() { sound <- verifyWhole(path) }()
	select {
	case err := <-sound:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func verifyWhole(path string) error {
	var first string
	faults := 0
	err := checkFile(path, knownSchema, func(fault string) {
		if faults++; faults == 1 {
			first = fault
		}
	})
	if err == nil && faults > 0 {
		return fmt.Errorf("data file %s is damaged: %d faults, the first: %s", path, faults, first)
	}
	return err
}

func knownSchema(version uint64) error {
	switch {
	case version == 0:
		return errEmpty
	case version > schemaVersion():
		return newerSchema(version)
	}
	return nil
}

// openExisting opens a file that has to be there.
func openExisting(path string, o *bbolt.Options) (*bbolt.DB, error) {
	db, _, err := openCurrent(path, func(size int64) (*bbolt.DB, error) {
		switch size {
		case absent:
			return nil, errAbsent
		case 0:
			return nil, errEmpty
		}
		return openGuarded(path, o)
	})
	return db, err
}

// toRead are the options to read a file with, beside others who do.
func toRead() *bbolt.Options {
	return &bbolt.Options{Timeout: lockTimeout, ReadOnly: true, PreLoadFreelist: true}
}
