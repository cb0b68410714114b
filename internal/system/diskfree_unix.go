//go:build linux || darwin

package system

import "syscall"

// DiskFree is how many bytes this user may still write to the disk of a folder.
func DiskFree(folder string) (bytes uint64, known bool) {
	var fs syscall.Statfs_t
	if syscall.Statfs(folder, &fs) != nil {
		return 0, false
	}
	return fs.Bavail * uint64(fs.Bsize), true
}
