package doctor

import (
	"context"
	"errors"
	"os"

	"teamdata/app"
	"teamdata/internal/terminal"
)

// checkContents checks the file as check does, unless a server has it open.
func (d *doctor) checkContents(context.Context) {
	if info, err := os.Stat(d.Data); err != nil || info.Size() == 0 {
		d.ok("none yet")
		return
	}
	if d.served {
		d.ok("not checked: the server has the file open")
		return
	}
	d.sound = d.checkFile(d.Data, "teamdata restore BACKUP --data "+terminal.ShellWord(d.Data))
}

// checkFile checks a data file or a backup of one.
func (d *doctor) checkFile(path, fix string) (sound bool) {
	first, faults := "", 0
	err := app.Check(path, func(fault string) {
		if faults++; faults == 1 {
			first = fault
		}
	})
	older := errors.Is(err, app.ErrOlderSchema)
	switch {
	case older:
		d.warn("see that there is room for the copy that this keeps beside it", "%s is of an older schema, and brought up to date when it is served", path)
	case err != nil:
		d.refused(err)
	case faults > 0:
		d.problem(fix, "%s is damaged, %s, first: %s", path, terminal.Count(faults, "fault"), first)
	default:
		d.ok("%s is sound, and of this teamdata's schema", path)
	}
	return older || err == nil && faults == 0 // for an older one its pages were walked too
}

// checkSealKey checks whether the key file opens the data file, if that can be read.
func (d *doctor) checkSealKey(context.Context) {
	if _, err := app.Options(d.SealKeyFile); err != nil {
		d.refused(err)
		return
	}
	if info, err := os.Stat(d.SealKeyFile); err == nil && d.openToOthers("key file", d.SealKeyFile, info, others) {
		return
	}
	if !d.sound { // and safe to map
		d.ok("not held to the data file, which can't be read now")
		return
	}
	sealed, err := app.CheckSealKey(d.Data, d.SealKeyFile)
	switch {
	case err != nil:
		d.refused(err)
	case !sealed && d.SealKeyFile == "":
		d.ok("none: the webhook secrets, private keys and password hashes in the file are in plain text")
	case !sealed:
		d.warn("keep a copy of the key apart from the backups", "the file is not sealed yet, and the next serve seals it")
	default:
		d.ok("%s opens the data file's secrets", d.SealKeyFile)
	}
}
