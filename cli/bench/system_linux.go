package bench

import (
	"os"
	"syscall"
)

// syncData brings a file's content to the disk, and of its other data what is
// needed to read it.
func syncData(file *os.File) error { return syscall.Fdatasync(int(file.Fd())) }

// Numbers of file systems that are in memory: tmpfs and ramfs.
const tmpfs, ramfs = 0x01021994, 0x858458f6

// isInMemory tells whether what is written to a folder reaches no disk.
func isInMemory(folder string) bool {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return false
	}
	return int64(s.Type)&0xffffffff == tmpfs || int64(s.Type)&0xffffffff == ramfs
}
