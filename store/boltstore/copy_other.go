//go:build !linux

package boltstore

import "os"

// writeBack brings a file to the disk.
func writeBack(f *os.File, _, _ int64) error { return f.Sync() }
