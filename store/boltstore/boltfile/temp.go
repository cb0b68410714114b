package boltfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"teamdata/internal/atomicfile"
	"teamdata/internal/system"
)

// temp is an unfinished file next to its target, the path that it will get:
// ".teamdata.db.restore-123". A killed run leaves it behind, and the next run
// with the same purpose removes it.
type temp struct {
	*os.File
	target string
}

func newTemp(target, purpose string) (*temp, error) {
	prefix := "." + filepath.Base(target) + "." + purpose + "-"
	if err := removeStale(target, prefix); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(filepath.Dir(target), prefix+"*") // with mode 0600
	if err != nil {
		return nil, cantWrite(target, err)
	}
	Step("begun")
	return &temp{file, target}, nil
}

// discard removes the file unless it is in place.
func (t *temp) discard() {
	t.Close()
	os.Remove(t.Name())
}

// removeStale removes what killed runs left behind.
func removeStale(target, prefix string) error {
	folder := filepath.Dir(target)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return cantWrite(target, err)
	}
	for _, entry := range entries {
		if number, ours := strings.CutPrefix(entry.Name(), prefix); ours && isNumber(number) {
			removeUnused(filepath.Join(folder, entry.Name()), target)
		}
	}
	return nil
}

// TempFolder creates a folder next to a data file, accessible to its owner only,
// and returns a function that removes it. A killed run leaves it behind, and the
// next run with the same purpose removes it.
func TempFolder(data, purpose string) (path string, remove func(), err error) {
	prefix := "." + filepath.Base(data) + "." + purpose + "-"
	if err := removeStale(data, prefix); err != nil {
		return "", nil, err
	}
	path, err = os.MkdirTemp(filepath.Dir(data), prefix) // with mode 0700
	if err != nil {
		return "", nil, cantWrite(data, err)
	}
	folder, err := os.Open(path)
	if err == nil {
		tryLock(folder, true) // without locks, nothing stale is removed
	}
	return path, func() { os.RemoveAll(path); folder.Close() }, err
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// removeUnused removes a temp file or folder that no process uses, or that is
// also in place.
func removeUnused(path, target string) {
	file, err := os.Open(path)
	if err != nil {
		return
	}
	defer file.Close()
	if isAt(file, target) || tryLock(file, true) == nil {
		os.RemoveAll(path)
	}
}

// Verify returns an error if the file at path is not sound.
type Verify func(path string) error

// finish syncs and verifies the file. Its errors name the file's source, name.
// Once ctx is done it doesn't wait for verify.
func (t *temp) finish(ctx context.Context, name string, verify Verify) error {
	Step("written")
	if err := t.Sync(); err != nil {
		return cantWrite(t.target, err)
	}
	Step("synced")
	sound := make(chan error, 1)
	go func() { sound <- verify(t.Name()) }()
	select {
	case err := <-sound:
		return rename(name, t.Name(), err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// placeOver atomically replaces the file at its target.
func (t *temp) placeOver() error {
	Step("verified")
	if err := os.Rename(t.Name(), t.target); err != nil {
		return cantWrite(t.target, err)
	}
	Step("placed")
	return syncFolder(t.target)
}

// placeNew atomically puts the file at its target if nothing is there.
func (t *temp) placeNew() error {
	Step("verified")
	err := system.RenameNew(t.Name(), t.target)
	if err != nil && !errors.Is(err, fs.ErrExist) { // no hard links here
		err = t.placeReserved()
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return errExists(t.target)
	case err != nil:
		return cantWrite(t.target, err)
	}
	Step("placed")
	return syncFolder(t.target)
}

// placeReserved is placeNew in two steps: a killed run leaves an empty file.
func (t *temp) placeReserved() error {
	file, err := os.OpenFile(t.target, os.O_CREATE|os.O_EXCL, Mode)
	if err != nil {
		return err
	}
	file.Close()
	return os.Rename(t.Name(), t.target)
}

// syncFolder makes the names in a file's folder durable.
func syncFolder(path string) error { return cantWrite(path, atomicfile.SyncFolder(path)) }

// Step is called before and after each change to the disk with what is done so
// far; tests kill the process there.
var Step = func(done string) {}

// roomSize is more than most commits need.
const roomSize = 64 << 10

// Room finds out whether a file beside this one could grow.
func (f *File) Room() error {
	file, err := newTemp(f.path, "room")
	if err != nil {
		return err
	}
	defer file.discard()
	_, err = file.Write(make([]byte, roomSize))
	return err
}
