//go:build !linux

package boltstore

// holder names the process that holds the lock, where the system tells.
func holder(string) string { return "another process" }
