//go:build linux

package system

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// kinds are the file systems, by their magic numbers, of which there is something
// to say.
var kinds = map[uint32]string{
	unix.NFS_SUPER_MAGIC: Network, unix.SMB_SUPER_MAGIC: Network, unix.SMB2_SUPER_MAGIC: Network, unix.CIFS_SUPER_MAGIC: Network,
	unix.V9FS_MAGIC: Network, unix.CEPH_SUPER_MAGIC: Network, unix.AFS_SUPER_MAGIC: Network, unix.FUSE_SUPER_MAGIC: Network,
	unix.TMPFS_MAGIC: Memory, unix.RAMFS_MAGIC: Memory, unix.OVERLAYFS_SUPER_MAGIC: Layer,
}

// FileSystem is the kind of file system that a folder is on; empty: a usual one.
func FileSystem(folder string) string {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil {
		return ""
	}
	return kinds[uint32(s.Type)]
}

// RenameNew gives a file another name, at which there is nothing yet: otherwise it fails with
// fs.ErrExist. Where the file system can't do that in one step, the file has both names for
// a moment.
func RenameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return linkNew(from, to)
}

// OpenFiles is how many files and connections this process may have open.
func OpenFiles() (most uint64, known bool) {
	var limit unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
	return limit.Cur, err == nil
}

// ClockSynced asks the kernel, as adjtimex(2) does, whether something keeps the
// clock right.
func ClockSynced() (synced, known bool) {
	state, err := unix.Adjtimex(&unix.Timex{})
	return state != unix.TIME_ERROR, err == nil
}

// syncData brings a file's content to the disk, and of its other data what is
// needed to read it.
func syncData(file *os.File) error { return unix.Fdatasync(int(file.Fd())) }
