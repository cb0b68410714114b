package boltstore

import (
	"os"
	"syscall"
)

// writeBack brings a part of a file to the disk, without the commit of the file
// system's journal that a sync is.
func writeBack(f *os.File, from, bytes int64) error {
	const waitBefore, write, waitAfter = 1, 2, 4
	err := syscall.SyncFileRange(int(f.Fd()), from, bytes, waitBefore|write|waitAfter)
	if err == syscall.ENOSYS || err == syscall.EINVAL || err == syscall.ESPIPE {
		return f.Sync()
	}
	return err
}
