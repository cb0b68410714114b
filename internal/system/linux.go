//go:build linux

package system

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

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

// Suspended is how long the machine was suspended since it was started, in which its
// monotonic clock stood still.
func Suspended() time.Duration {
	var with, without unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &with) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &without) != nil {
		return 0
	}
	return time.Duration(with.Nano() - without.Nano())
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

// MemoryLimit is how many bytes of memory this process may have: the least that one of its control
// groups allows, or what the machine has.
func MemoryLimit() (most uint64, known bool) {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0, false
	}
	return min(uint64(info.Totalram)*uint64(info.Unit), groupMemory("/proc/self/cgroup", "/sys/fs/cgroup")), true
}

// groupMemory is the limit of the groups that a file in the format of /proc/self/cgroup names,
// of version 2 or 1, and of those around them.
func groupMemory(membership, root string) (most uint64) {
	most = math.MaxUint64
	lines, _ := os.ReadFile(membership)
	for line := range strings.Lines(string(lines)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		folder, name := root, "memory.max"
		switch {
		case controllers == "memory":
			folder, name = filepath.Join(root, "memory"), "memory.limit_in_bytes"
		case controllers != "":
			continue
		}
		for ; ; group = path.Dir(group) {
			text, _ := os.ReadFile(filepath.Join(folder, group, name)) // "max" is no limit; in a container the group's folder may be the root
			if limit, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
				most = min(most, limit)
			}
			if len(group) <= 1 {
				break
			}
		}
	}
	return most
}
