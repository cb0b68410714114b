//go:build !linux

package bench

import "os"

func syncData(file *os.File) error { return file.Sync() }

// isInMemory is not known here.
func isInMemory(string) bool { return false }
