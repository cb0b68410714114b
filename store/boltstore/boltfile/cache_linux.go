package boltfile

import (
	"os"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// forgetEvery is how often the pages that were read are given back: a disk
// reads some ten MiB in that time.
const forgetEvery = 2 * time.Millisecond

// forgetPages gives the system back, again and again until stop is called, the
// pages of a mapped file that were read, so that a walk through a large file
// takes little memory. A page that is needed again is read again. The file is mapped to
// be read only: such a map stays where it is.
func forgetPages(db *bbolt.DB) (stop func()) {
	info, err := os.Stat(db.Path())
	if err != nil {
		return func() {}
	}
	start, size := db.Info().Data, uintptr(info.Size())
	return every(forgetEvery, func() {
		syscall.Syscall(syscall.SYS_MADVISE, start, size, syscall.MADV_DONTNEED) // advice: without it there is just more in memory
	})
}

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
