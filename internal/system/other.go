//go:build !linux

package system

import (
	"os"
	"time"
)

// FileSystem is not known here.
func FileSystem(string) string { return "" }

// RenameNew gives a file another name, at which there is nothing yet: otherwise it fails with
// fs.ErrExist. For a moment the file has both names.
func RenameNew(from, to string) error { return linkNew(from, to) }

// OpenFiles is not known here.
func OpenFiles() (most uint64, known bool) { return 0, false }

// Suspended is not known here.
func Suspended() time.Duration { return 0 }

// ClockSynced is not known here.
func ClockSynced() (synced, known bool) { return false, false }

func syncData(file *os.File) error { return file.Sync() }

// MemoryLimit is not known here.
func MemoryLimit() (most uint64, known bool) { return 0, false }
