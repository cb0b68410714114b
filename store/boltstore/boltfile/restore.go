package boltfile

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// keptInfix separates the path and the time in the name under which Restore keeps
// a file.
const keptInfix = ".before-restore-"

// Restore replaces the file at path, which no process may have open, with a copy
// of a backup. It returns the name under which the old file is kept, "" if there
// was none. The copy is verified and on disk before it replaces the file;
// whenever the process is killed, path is the old file or the new one.
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
	if old.file != nil {
		kept = old.path + keptInfix + now.UTC().Format(keptTime)
	}
	if err := old.replaceBy(t, kept); err != nil {
		return "", err
	}
	return kept, nil
}

// dropUnfinished removes the second name that a killed run gave to a file that is
// still in place.
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

// Filled says what happens to the filled copy of a Rebuild and to the old file.
type Filled struct {
	// KeepInfix, if not empty, keeps the old file, named by its path, the infix
	// and the time of its last write.
	KeepInfix string
	// Anew rewrites the copy without its free pages, which still contain
	// overwritten data.
	Anew bool
}

// Rebuild replaces or creates the file at path as a whole: fill is called with
// the path of a copy, which replaces the file once it is verified and on disk.
// Until then, whatever fails and whenever the process is killed, path is as it
// was. Meanwhile no process can open it. fill returns what happens to both.
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
	if IsFull(err) {
		return cantWrite(path, syscall.ENOSPC) // fill's own text is for clients
	}
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
	kept := ""
	if done.KeepInfix != "" {
		if kept, err = keptName(old.path, done.KeepInfix); err != nil {
			return err
		}
	}
	return old.replaceBy(t, kept)
}

// copyTo copies the old file, which no process is writing.
func (l *lockedFile) copyTo(ctx context.Context, t *temp) error {
	if l.file == nil {
		return nil
	}
	n, err := io.Copy(&sparseWriter{pacedWriter{ctx: ctx, file: t.File}}, l.file)
	if err == nil {
		err = t.Truncate(n) // it may end in a hole
	}
	return cantWrite(t.target, err)
}
