package kit

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

// SmallDisk mounts a file system of its own with room for little, "8m", and returns its
// folder, which anybody may enter.
func SmallDisk(t testing.TB, size string) (folder string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "teamdata-disk-")
	Must(t, err)
	t.Cleanup(func() { os.Remove(folder) })
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size="+size); err != nil {
		MustSkip(t, fmt.Sprintf("a small file system can't be mounted: %v", err))
	}
	t.Cleanup(func() { syscall.Unmount(folder, syscall.MNT_DETACH) }) // a child that is being started may have a file of it open
	return folder
}

// Fill writes a file until the disk is full.
func Fill(t testing.TB, path string) {
	t.Helper()
	f, err := os.Create(path)
	Must(t, err)
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}
