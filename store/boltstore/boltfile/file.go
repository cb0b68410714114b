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

// File is a file that is open for writing. Its methods are called by the writer, from
// one goroutine, unless they say otherwise.
type File struct {
	db     *bbolt.DB
	file   *os.File // bbolt's
	path   string
	opened fs.FileInfo
	folder fs.FileInfo // as it was when the file was seen at the path; nil: its names may still change unseen

	listed   time.Time // when the list of free pages was last written
	measured time.Time // when low was found out
	low      bool      // the disk has little room
	free     atomic.Int64
}

// settled is the age at which a folder's modification time is reliable: within the
// clock tick of a file system two changes get the same time. Where a tick takes
// longer, the next Check notices.
const settled = 100 * time.Millisecond

// ErrMoved is the reason of an error about a file that was renamed, removed or
// replaced while it was open.
var ErrMoved = errors.New("moved")

// Check returns an error once the file is no longer the one at its path. A path that
// can't be read says nothing. Any goroutine may call it.
func (f *File) Check() error {
	switch there, err := os.Stat(f.path); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return &Error{Path: f.path, Text: "was removed or renamed while it was open", Advice: "put it back, and start teamdata again", Err: ErrMoved}
	case err == nil && !os.SameFile(f.opened, there):
		return &Error{Path: f.path, Text: "was replaced by another file while it was open", Advice: "to put back a backup, stop teamdata and run: teamdata restore", Err: ErrMoved}
	}
	return nil
}

// checkNames is Check at a lower cost. It reads the folder, and the
// file only when a name in the folder has changed lately: to say what a file is that
// was just written can cost a file system as much as part of a sync.
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

// isLink reports whether the file is in another folder than its path says.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err != nil || info.Mode()&fs.ModeSymlink != 0
}

const (
	// listEvery is how often the list of free pages is written: how old the count of
	// free pages may be.
	listEvery = time.Minute
	// lowDisk is how many bytes are little room. A commit that fails makes bbolt read
	// the list again; without one it reads the whole file.
	lowDisk = 64 << 20
	// measureEvery is how often the room is measured.
	measureEvery = time.Second
)

// BeforeCommit decides whether the commit that is about to be made writes the list of
// free pages. The commit's transaction is open.
func (f *File) BeforeCommit(now time.Time) {
	if now.Sub(f.measured) >= measureEvery {
		room, known := system.DiskFree(filepath.Dir(f.path))
		f.measured, f.low = now, known && room < lowDisk
	}
	f.db.NoFreelistSync = !f.low && now.Sub(f.listed) < listEvery
}

// AfterCommit is what follows a commit that has succeeded. Its error is that of Check.
func (f *File) AfterCommit(now time.Time) error {
	if !f.db.NoFreelistSync {
		f.listed = now
		f.countFree()
	}
	return f.checkNames()
}

// countFree reads how many pages are free. It reports whether the last commit has
// written the list, without which it doesn't know.
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

// FreePages is how many pages were free when that was last counted, up to a minute
// ago. Any goroutine may call it.
func (f *File) FreePages() int64 { return f.free.Load() }

// Size is how many bytes the file has. Any goroutine may call it.
func (f *File) Size() (int64, error) {
	info, err := f.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Close closes the file, with its list of free pages unless the file is not to be
// written. No transaction is open.
func (f *File) Close(write bool) error {
	if write && !f.countFree() {
		f.writeFreelist()
	}
	return f.db.Close()
}

// writeFreelist makes a commit for the list alone. If that fails, the next Open finds
// the free pages.
func (f *File) writeFreelist() {
	if bolt, err := f.db.Begin(true); err == nil {
		f.db.NoFreelistSync = false
		bolt.Commit()
	}
}
