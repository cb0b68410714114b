package boltstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Restore puts a copy of a backup in the place of the data file at path, which
// no server may have open. It returns the name under which the old file is kept,
// "" if there was none. The copy is on the disk and sound before it has its
// place; whenever the process is killed, path is the old file or the new one.
func Restore(ctx context.Context, backup, path string, now time.Time) (kept string, err error) {
	old, err := own(path)
	if err != nil {
		return "", err
	}
	defer old.release()
	if old.isFile(backup) {
		return "", fmt.Errorf("%s is the data file itself; give a backup of it", backup)
	}
	old.dropUnfinished()
	t, err := newTemp(old.path, "restore")
	if err != nil {
		return "", err
	}
	defer t.discard()
	if err := copyFile(ctx, backup, t); err != nil {
		return "", err
	}
	if err := t.finish(ctx, backup); err != nil {
		return "", err
	}
	return old.replaceBy(t, now)
}

const (
	keptInfix = ".before-restore-"
	keptTime  = "20060102T150405Z" // in UTC
)

// replaceBy keeps the old file under a second name, and gives its place away.
func (o *owned) replaceBy(t *temp, now time.Time) (kept string, err error) {
	if o.file == nil {
		return "", t.placeNew()
	}
	kept = o.path + keptInfix + now.UTC().Format(keptTime)
	if err := o.keep(kept); err != nil {
		return "", err
	}
	step("kept")
	if err := t.placeOver(); err != nil {
		if o.isFile(o.path) {
			os.Remove(kept)
		}
		return "", err
	}
	return kept, nil
}

// dropUnfinished removes the second name that a killed run has given to a file
// which is still in its place.
func (o *owned) dropUnfinished() {
	if o.file == nil {
		return
	}
	names, _ := os.ReadDir(filepath.Dir(o.path))
	for _, name := range names {
		path := filepath.Join(filepath.Dir(o.path), name.Name())
		if strings.HasPrefix(name.Name(), filepath.Base(o.path)+keptInfix) && o.isFile(path) {
			os.Remove(path)
		}
	}
}

func (o *owned) isFile(path string) bool { return o.file != nil && isAt(o.file, path) }
