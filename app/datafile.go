package app

import (
	"fmt"

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
