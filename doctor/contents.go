package doctor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store/boltstore"
	"teamdata/store/seal"
	"teamdata/terminal"
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
	older := err != nil && isOlder(err)
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

var schemas = regexp.MustCompile(`has schema (\d+), and this teamdata checks (\d+);`)

// isOlder tells whether a file can't be checked because it is of an older schema,
// which serve takes, and not a newer one, which it refuses.
func isOlder(err error) bool {
	m := schemas.FindStringSubmatch(err.Error())
	if m == nil {
		return false
	}
	found, _ := strconv.Atoi(m[1])
	known, _ := strconv.Atoi(m[2])
	return found < known
}

// lookAtSealKey holds the key file to the data file.
func (d *doctor) lookAtSealKey(context.Context) {
	var key *seal.Key
	if d.SealKeyFile != "" {
		var err error
		if key, err = seal.ReadKeyFile(d.SealKeyFile); err != nil {
			d.refused(fmt.Errorf("--seal-key-file: %w", err))
			return
		}
		if info, err := os.Stat(d.SealKeyFile); err == nil && d.openToOthers("key file", d.SealKeyFile, info, 0o007) {
			return
		}
	}
	d.holdToFile(key)
}

func (d *doctor) holdToFile(key *seal.Key) {
	if !d.sound { // and safe to map
		d.ok("not held to the data file, which can't be read now")
		return
	}
	sealed, err := sealCheckOf(d.Data)
	switch {
	case err != nil:
		d.problem("run teamdata doctor again", "the data file can't be read: %v", err)
	case sealed == nil && key == nil:
		d.ok("none: the webhook secrets, private keys and password hashes in the file are in plain text")
	case sealed == nil:
		d.warn("keep a copy of the key apart from the backups", "the file is not sealed yet, and the next serve seals it")
	case key == nil:
		d.problem("give the key file that it was sealed with: --seal-key-file FILE", "the data file is sealed")
	default:
		if text, err := key.Open(sealed, []byte("meta\x00seal")); err != nil || string(text) != "teamdata" {
			d.problem("give that one: --seal-key-file FILE", "%s is not the key that the data file was sealed with", d.SealKeyFile)
			return
		}
		d.ok("%s opens the data file's secrets", d.SealKeyFile)
	}
}

// sealCheckOf is what a sealed file tells the right key by, as docs/format.md has
// it. It only reads: opening the store would seal or migrate the file.
func sealCheckOf(path string) (sealed []byte, err error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	err = db.View(func(tx *bbolt.Tx) error {
		sealed = bytes.Clone(tx.Bucket([]byte("meta")).Get([]byte("seal")))
		return nil
	})
	return sealed, err
}
