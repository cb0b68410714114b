package bench

import (
	"fmt"
	"os"
	"strings"
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

const memoryKnown = true

// residentMemory is that of a process, now and at its peak, in MiB.
func residentMemory(pid int) (now, peak float64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(status)) {
		kib := 0.0
		switch name, value, _ := strings.Cut(line, ":"); name {
		case "VmRSS":
			_, err = fmt.Sscan(value, &kib)
			now = kib / 1024
		case "VmHWM":
			_, err = fmt.Sscan(value, &kib)
			peak = kib / 1024
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return now, peak, nil
}
