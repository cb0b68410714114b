// Package system asks the operating system about its disks and its clock, and renames and locks files,
// where that depends on the system. An answer that some systems don't have is a function
// in linux.go and in other.go; what they share, and the kinds of file systems, is here.
//
// It imports nothing of ours.
package system

import (
	"os"
	"slices"
	"time"
)

// The kinds of file systems that are no place for a data file.
const (
	Network = "network"
	Memory  = "memory"
	Layer   = "layer" // of a container
)

// SyncTimes are the times, sorted, that single syncs of a written page of 4 KiB take
// in a folder. They are made while more wants another after n of them.
func SyncTimes(folder string, more func(n int) bool) (times []time.Duration, err error) {
	file, err := os.CreateTemp(folder, ".teamdata-sync-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if _, err := timeSync(file); err != nil { // the first one also makes room
		return nil, err
	}
	for more(len(times)) {
		took, err := timeSync(file)
		if err != nil {
			return nil, err
		}
		times = append(times, took)
	}
	slices.Sort(times)
	return times, nil
}

func timeSync(file *os.File) (time.Duration, error) {
	start := time.Now()
	if _, err := file.WriteAt(make([]byte, 4096), 0); err != nil {
		return 0, err
	}
	err := syncData(file)
	return time.Since(start), err
}

// linkNew gives a file a name at which there is nothing yet, and takes its old one if it can:
// Windows keeps the names of an open file, which whoever closes it removes.
func linkNew(from, to string) error {
	err := os.Link(from, to)
	if err == nil {
		os.Remove(from)
	}
	return err
}
