package command

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"teamdata/cli/doctor"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// A file system that is read-only is no matter of an owner.
func TestReadOnlyFileSystem(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_RDONLY, "size=1m"); err != nil {
		kit.MustSkip(t, fmt.Sprintf("a small file system can't be mounted: %v", err))
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	program.Says(t, 1, []string{"serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(disk, "teamdata.db")}, "read-only", "hint: mount that for writing")
}

// On a file system in memory, and one that is full, the doctor says so.
func TestDoctorOfFileSystem(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=2m"); err != nil {
		kit.MustSkip(t, fmt.Sprintf("a small file system can't be mounted: %v", err))
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	args := []string{"--data", filepath.Join(disk, "teamdata.db")}
	list := examined(t, args...)
	finds(t, list, "disk", doctor.Warning, "in memory")
	finds(t, list, "disk", doctor.Warning, "1 MiB are free|2 MiB are free")
	kit.Must(t, os.WriteFile(filepath.Join(disk, "ballast"), make([]byte, 3<<19), 0o600))
	finds(t, examined(t, args...), "disk", doctor.Problem, "is full: 512 KiB are free")
}
