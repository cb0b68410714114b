package app

import (
	"context"
	"fmt"
	"time"

	"teamdata/store/boltstore"
	"teamdata/store/seal"
)

// Migrated is what an operator is told of a file that was brought up to date.
const Migrated = "the data file is of a newer schema from now on, which the teamdata before can't read; " +
	"to go back to that, put back the copy with: teamdata restore; delete the copy once you won't go back"

// Sealed is what an operator is told of a file that was sealed just now.
const Sealed = "the data file is sealed from now on, and opens with this key alone: " +
	"keep a copy of the key, apart from the backups; secrets written before may still be in free pages of the file, and are in older backups"

// Options are the options that a data file is opened with, sealed if there is
// a key file.
func Options(keyFile string) (o boltstore.Options, err error) {
	if keyFile == "" {
		return o, nil
	}
	if o.Sealer, err = seal.ReadKeyFile(keyFile); err != nil {
		return o, fmt.Errorf("--seal-key-file: %w", err)
	}
	return o, nil
}

// Check looks for damage in a data file that no server has open, and calls found
// with each fault. It changes nothing.
func Check(data string, found func(fault string)) error { return boltstore.Check(data, found) }

// Compact writes a data file that no server has open anew, without its free space,
// and returns its sizes in bytes before and after.
func Compact(ctx context.Context, data string, progress func(done, all int64)) (before, after int64, err error) {
	return boltstore.Compact(ctx, data, progress)
}

// Restore puts a verified copy of a backup in the place of a data file that no
// server has open, and returns where the file before it was kept, if there was one.
func Restore(ctx context.Context, backup, data string, now time.Time) (kept string, err error) {
	return boltstore.Restore(ctx, backup, data, now)
}
