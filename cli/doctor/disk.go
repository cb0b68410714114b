package doctor

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"teamdata/app"
	"teamdata/internal/system"
	"teamdata/internal/terminal"
)

const (
	syncs    = 5                     // that are measured
	slowSync = 50 * time.Millisecond // each write waits for one
	lowDisk  = 256 << 20             // bytes that are little for a disk that grows
	aheadBy  = time.Minute           // that two clocks may differ by
)

// checkDisk checks the folder of the data file, and the disk below it.
func (d *doctor) checkDisk(context.Context) {
	folder := filepath.Dir(d.Data)
	took, err := syncTime(folder)
	if err != nil {
		d.problem("make it for this user, with mode 0700: mkdir -p -m 0700 "+terminal.ShellWord(folder), "the folder can't be written: %v", err)
		return
	}
	d.checkSync(took)
	d.checkFileSystem(system.FileSystem(folder))
	d.checkSpace("the data file's disk", folder)
}

func (d *doctor) checkSync(took time.Duration) {
	if took > slowSync {
		d.warn("take a faster disk", "a synced write takes %s, and each change waits for one", took.Round(time.Microsecond))
		return
	}
	d.ok("a synced write takes %s", took.Round(time.Microsecond))
}

// syncTime is the median time of a small synced write to a folder.
func syncTime(folder string) (middle time.Duration, err error) {
	took, err := system.SyncTimes(folder, func(n int) bool { return n < syncs })
	if err != nil {
		return 0, err
	}
	return took[len(took)/2], nil
}

func (d *doctor) checkFileSystem(kind string) {
	switch kind {
	case system.Network:
		d.warn("put the data file on a disk of this machine", "it is on a network file system, where locks and syncs may not hold")
	case system.Memory:
		d.warn("put the data file on a disk", "it is in memory, and gone after a restart of the machine")
	case system.Layer:
		d.warn("mount a volume for the data file", "it is in a container's own layer, and gone with the container")
	default:
		d.ok("the file system is local")
	}
}

// checkSpace checks for space for a second data file, which migrate, compact and
// restore need.
func (d *doctor) checkSpace(what, folder string) {
	var size int64 // 0 if the file is not there
	if info, err := os.Stat(d.Data); err == nil {
		size = info.Size()
	}
	if free, known := system.DiskFree(folder); known {
		d.checkFree(what, free, size)
	} else {
		d.ok("the free space on %s can't be determined here", what)
	}
}

func (d *doctor) checkFree(what string, free uint64, size int64) {
	switch {
	case free < app.MinDiskFree:
		d.problem("make room", "%s is full: %d KiB are free", what, free>>10)
	case free < lowDisk || free < uint64(size):
		d.warn("make room", "%d MiB are free on %s, and a copy of the data file takes %d MiB", free>>20, what, size>>20)
	default:
		d.ok("%d MiB are free on %s", free>>20, what)
	}
}

// checkClock compares the clock with the times of the files, which must be in the
// past, and asks the system whether it is synchronized.
func (d *doctor) checkClock(context.Context) {
	now, newest := d.now(), d.newestTime()
	if newest.After(now.Add(aheadBy)) {
		d.problem("set the clock, with NTP", "it says %s, but the data file or a backup is from %s", d.when(now), d.when(newest))
		return
	}
	if synced, known := system.ClockSynced(); known && !synced {
		d.warn("run an NTP client, such as chrony or systemd-timesyncd", "the system says that its clock is not synchronized")
		return
	}
	d.ok("%s", d.when(now))
}

// newestTime is when the data file or a backup was written last, or the newest time
// in the file if that is later.
func (d *doctor) newestTime() (newest time.Time) {
	newest = d.newest
	if info, err := os.Stat(d.Data); err == nil && info.ModTime().After(newest) {
		newest = info.ModTime()
	}
	if _, made, ok := app.NewestBackup(d.BackupDir, d.now().AddDate(1000, 0, 0)); ok && made.After(newest) {
		newest = made
	}
	return newest
}
