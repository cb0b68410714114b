package boltfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/internal/system"
)

// File is a file open for writing. Only the writer's goroutine may call its methods,
// except those that are safe for concurrent use.
type File struct {
	db     *bbolt.DB
	file   *os.File // bbolt's
	path   string
	opened fs.FileInfo
	folder fs.FileInfo // as it was when the file was seen at the path; nil: its names may still change unseen

	listed   time.Time    // when the list of free pages was last written
	unlisted bool         // the last commit did not write it
	measured time.Time    // when the free disk space was last measured
	low      bool         // it was less than lowDisk
	free     atomic.Int64 // free pages, by the last list
}

// settled is the age at which a folder's modification time is reliable: within the
// clock tick of a file system two changes get the same time. Where a tick takes
// longer, the next Check notices.
const settled = 100 * time.Millisecond

// ErrMoved is the cause of an error about a file that was renamed, removed or
// replaced while open.
var ErrMoved = errors.New("moved")

// Check returns an error once the file is no longer the one at its path. A path
// that can't be checked is no error. Safe for concurrent use.
func (f *File) Check() error {
	switch there, err := os.Stat(f.path); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return &Error{Path: f.path, Text: "was removed or renamed while it was open", Advice: "put it back, and start teamdata again", Err: ErrMoved}
	case err == nil && !os.SameFile(f.opened, there):
		return &Error{Path: f.path, Text: "was replaced by another file while it was open", Advice: "to restore a backup, stop teamdata and run: teamdata restore", Err: ErrMoved}
	}
	return nil
}

// checkNames is Check at a lower cost. It checks the folder, and the file only if a
// name in the folder has changed lately: stat of a file just written can cost part
// of a sync.
func (f *File) checkNames() error {
	folder, err := os.Stat(filepath.Dir(f.path))
	if err == nil && f.folder != nil && os.SameFile(f.folder, folder) && f.folder.ModTime().Equal(folder.ModTime()) {
		return nil
	}
	f.folder = nil
	if err == nil && time.Since(folder.ModTime()) > settled && !isLink(f.path) {
		f.folder = folder
	}
	return f.Check()
}

// isLink reports whether the path is a link, whose file may be in another folder,
// or can't be checked.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err != nil || info.Mode()&fs.ModeSymlink != 0
}

const (
	// listEvery is how often a commit writes the list of free pages, and so the
	// maximum age of FreePages.
	listEvery = time.Minute
	// lowDisk is the free space in bytes below which every commit writes the list:
	// when one fails, bbolt reads the list again, or the whole file if there is none.
	lowDisk = 64 << 20
	// measureEvery is how often free disk space is measured.
	measureEvery = time.Second
)

// BeforeCommit decides whether the commit of the open write transaction writes the
// list of free pages.
func (f *File) BeforeCommit(now time.Time) {
	if now.Sub(f.measured) >= measureEvery {
		room, known := system.DiskFree(filepath.Dir(f.path))
		f.measured, f.low = now, known && room < lowDisk
	}
	f.db.NoFreelistSync = !f.low && now.Sub(f.listed) < listEvery
}

// AfterCommit completes a successful commit. Its error is that of Check.
func (f *File) AfterCommit(now time.Time) error {
	if f.unlisted = f.db.NoFreelistSync; !f.unlisted {
		f.listed = now
		f.countFree()
	}
	return f.checkNames()
}

// AfterFailure completes a failed commit, and reports whether the disk has filled up since
// the list was last written. Then a commit is to write it, into free pages: without it,
// bbolt would search the file after each further failure.
func (f *File) AfterFailure(now time.Time, err error) (filledUp bool) {
	if filledUp = IsFull(err) && f.unlisted; filledUp {
		f.measured, f.low = now, true
	}
	return filledUp
}

// countFree updates the count of free pages, and reports whether the last commit
// wrote the list that says it.
func (f *File) countFree() (listed bool) {
	f.db.View(func(bolt *bbolt.Tx) error {
		h, err := headOf(f.file, bolt)
		if err != nil || h.list == noList {
			return err
		}
		listed = true
		n, err := readFreelistLen(f.file, h)
		if err == nil {
			f.free.Store(n)
		}
		return err
	})
	return listed
}

// FreePages returns the number of free pages, as of up to a minute ago. Safe for
// concurrent use.
func (f *File) FreePages() int64 { return f.free.Load() }

// Size returns the size of the file in bytes. Safe for concurrent use.
func (f *File) Size() (int64, error) {
	info, err := f.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Close closes the file; if it may still be written, with its list of free pages.
// No transaction may be open.
func (f *File) Close(write bool) error {
	if write && !f.countFree() {
		if bolt, err := f.db.Begin(true); err == nil { // or else the next Open finds the free pages
			f.db.NoFreelistSync = false
			bolt.Commit()
		}
	}
	return f.db.Close()
}
