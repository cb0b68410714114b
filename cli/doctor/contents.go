package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"

	"teamdata/internal/terminal"
	"teamdata/store/boltstore"
	"teamdata/store/seal"
)

// lookAtContents checks the file as check does, unless a server has it open.
func (d *doctor) lookAtContents(context.Context) {
	if info, err := os.Stat(d.Data); err != nil || info.Size() == 0 {
		d.ok("none yet")
		return
	}
	if d.served {
		d.ok("not looked at: the server has the file open")
		return
	}
	d.sound = d.lookInto(d.Data, "teamdata restore BACKUP --data "+terminal.ShellWord(d.Data))
}

// lookInto checks a data file or a backup of one.
func (d *doctor) lookInto(path, mend string) (sound bool) {
	first, faults := "", 0
	err := boltstore.Check(path, func(fault string) {
		if faults++; faults == 1 {
			first = fault
		}
	})
	older := errors.Is(err, boltstore.ErrOlderSchema)
	switch {
	case older:
		d.warn("see that there is room for the copy that this keeps beside it", "%s is of an older schema, and brought up to date when it is served", path)
	case err != nil:
		d.refused(err)
	case faults > 0:
		d.problem(mend, "%s is damaged, %d faults, first: %s", path, faults, first)
	default:
		d.ok("%s is sound, and of this teamdata's schema", path)
	}
	return older || err == nil && faults == 0 // for an older one its pages were walked too
}

// lookAtSealKey holds the key file to the data file.
func (d *doctor) lookAtSealKey(context.Context) {
	var key boltstore.Sealer
	if d.SealKeyFile != "" {
		read, err := seal.ReadKeyFile(d.SealKeyFile)
		if err != nil {
			d.refused(fmt.Errorf("--seal-key-file: %w", err))
			return
		}
		if info, err := os.Stat(d.SealKeyFile); err == nil && d.openToOthers("key file", d.SealKeyFile, info, 0o007) {
			return
		}
		key = read
	}
	d.holdToFile(key)
}

func (d *doctor) holdToFile(key boltstore.Sealer) {
	if !d.sound { // and safe to map
		d.ok("not held to the data file, which can't be read now")
		return
	}
	sealed, err := boltstore.CheckKey(d.Data, key)
	switch {
	case err != nil:
		d.refused(err)
	case !sealed && key == nil:
		d.ok("none: the webhook secrets, private keys and password hashes in the file are in plain text")
	case !sealed:
		d.warn("keep a copy of the key apart from the backups", "the file is not sealed yet, and the next serve seals it")
	default:
		d.ok("%s opens the data file's secrets", d.SealKeyFile)
	}
}
