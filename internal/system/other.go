//go:build !linux

package system

import "os"

// FileSystem is not known here.
func FileSystem(string) string { return "" }

// OpenFiles is not known here.
func OpenFiles() (most uint64, known bool) { return 0, false }

// ClockSynced is not known here.
func ClockSynced() (synced, known bool) { return false, false }

func syncData(file *os.File) error { return file.Sync() }
