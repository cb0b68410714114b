//go:build !linux

package boltfile

import (
	"os"

	"go.etcd.io/bbolt"
)

// holder can't name the process that holds the lock on this system.
func holder(string) string { return "another process" }

// writeBack writes a file to disk.
func writeBack(f *os.File, _, _ int64) error { return f.Sync() }

// forgetPages leaves the pages to the system.
func forgetPages(*bbolt.DB) (stop func()) { return func() {} }

// readAhead leaves reading to the system.
func readAhead([]byte) {}
