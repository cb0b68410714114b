package boltfile

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// forgetEvery is how often read pages are released: a disk reads some ten MiB in
// that time.
const forgetEvery = 2 * time.Millisecond

// forgetPages repeatedly releases the read pages of a mapped file until stop is
// called, so that a walk through a large file uses little memory. A page needed
// again is read again. The file is mapped read-only: such a mapping never moves.
func forgetPages(db *bbolt.DB) (stop func()) {
	info, err := os.Stat(db.Path())
	if err != nil {
		return func() {}
	}
	start, size := db.Info().Data, uintptr(info.Size())
	return every(forgetEvery, func() {
		syscall.Syscall(syscall.SYS_MADVISE, start, size, syscall.MADV_DONTNEED) // only advice: on failure more stays in memory
	})
}

// readAhead makes the system read a mapped file that is not cached.
func readAhead(b []byte) { syscall.Madvise(b, syscall.MADV_WILLNEED) } // advice: without it that takes longer

// writeBack writes part of a file to disk without committing the file system's
// journal, as a sync would.
func writeBack(f *os.File, from, bytes int64) error {
	const waitBefore, write, waitAfter = 1, 2, 4
	err := syscall.SyncFileRange(int(f.Fd()), from, bytes, waitBefore|write|waitAfter)
	if err == syscall.ENOSYS || err == syscall.EINVAL || err == syscall.ESPIPE {
		return f.Sync()
	}
	return err
}

// holder names the process that holds the lock on the file, if the system reveals
// it: "process 4711 (teamdata)".
func holder(path string) string {
	const unknown = "another process"
	info, err := os.Stat(path)
	if err != nil {
		return unknown
	}
	inode := fmt.Sprintf(":%d", info.Sys().(*syscall.Stat_t).Ino)
	locks, err := os.Open("/proc/locks")
	if err != nil {
		return unknown
	}
	defer locks.Close()
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		// 1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF
		f := strings.Fields(lines.Text())
		if len(f) > 5 && f[1] == "FLOCK" && strings.HasSuffix(f[5], inode) {
			return fmt.Sprintf("process %s%s", f[4], commandOf(f[4]))
		}
	}
	return unknown
}

func commandOf(pid string) string {
	name, err := os.ReadFile("/proc/" + pid + "/comm")
	if err != nil {
		return ""
	}
	return " (" + strings.TrimSpace(string(name)) + ")"
}
