package boltfile

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// keptInfix stands between the path of a file and the time, in the name under which
// Restore keeps it.
const keptInfix = ".before-restore-"

// Restore puts a copy of a backup in the place of the file at path, which no process
// may have open. It returns the name under which the old file is kept, "" if there
// was none. The copy is on the disk and sound before it has its place; whenever the
// process is killed, path is the old file or the new one.
func Restore(ctx context.Context, backup, path string, now time.Time, verify Verify) (kept string, err error) {
	old, err := lock(path)
	if err != nil {
		return "", err
	}
	defer old.release()
	if old.isFile(backup) {
		return "", &Error{Path: backup, Text: "is the data file itself", Advice: "give a backup of it"}
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
	if err := t.finish(ctx, backup, verify); err != nil {
		return "", err
	}
	return old.replaceBy(t, now)
}

// replaceBy keeps the old file under a second name, and gives its place away.
func (l *lockedFile) replaceBy(t *temp, now time.Time) (kept string, err error) {
	if l.file == nil {
		return "", t.placeNew()
	}
	kept = l.path + keptInfix + now.UTC().Format(keptTime)
	if err := l.keep(kept); err != nil {
		return "", err
	}
	Step("kept")
	if err := t.placeOver(); err != nil {
		if l.isFile(l.path) {
			os.Remove(kept)
		}
		return "", err
	}
	return kept, nil
}

// dropUnfinished removes the second name that a killed run has given to a file
// which is still in its place.
func (l *lockedFile) dropUnfinished() {
	if l.file == nil {
		return
	}
	names, _ := os.ReadDir(filepath.Dir(l.path))
	for _, name := range names {
		path := filepath.Join(filepath.Dir(l.path), name.Name())
		if strings.HasPrefix(name.Name(), filepath.Base(l.path)+keptInfix) && l.isFile(path) {
			os.Remove(path)
		}
	}
}

// Filled is what becomes of the copy that a Rebuild has filled, and of the old file.
type Filled struct {
	// KeepInfix, if not empty, keeps the old file, under its path, the infix and the
	// time at which it was last written.
	KeepInfix string
	// Anew writes the copy once more, without its free pages, where what was
	// overwritten still is.
	Anew bool
}

// Rebuild changes the file at path as a whole, or makes it: fill is called with the
// path of a copy, which takes the file's place once it is on the disk and sound.
// Until then, whatever fails and whenever the process is killed, path is as it was.
// Meanwhile no process can open it. What fill returns says what becomes of both.
func Rebuild(ctx context.Context, path string, fill func(temp string) (Filled, error), verify Verify) error {
	old, err := lock(path)
	if err != nil {
		return err
	}
	defer old.release()
	t, err := newTemp(old.path, "rebuild")
	if err != nil {
		return err
	}
	defer t.discard()
	if err := old.copyTo(ctx, t); err != nil {
		return err
	}
	done, err := fill(t.Name())
	if err != nil {
		return rename(path, t.Name(), err)
	}
	if done.Anew {
		draft := t
		if t, err = draft.anew(ctx); err != nil {
			return err
		}
		defer t.discard()
	}
	if err := t.finish(ctx, path, verify); err != nil {
		return err
	}
	if done.KeepInfix != "" {
		if err := old.keepAs(done.KeepInfix); err != nil {
			return err
		}
	}
	return old.place(t)
}

// copyTo copies the bytes of the old file, which nobody writes.
func (l *lockedFile) copyTo(ctx context.Context, t *temp) error {
	if l.file == nil {
		return nil
	}
	n, err := io.Copy(&sparseWriter{pacedWriter{ctx: ctx, file: t.File}}, l.file)
	if err == nil {
		err = t.Truncate(n) // it may end with a hole
	}
	return cantWrite(t.target, err)
}
