//go:build !linux

package boltstore

import "go.etcd.io/bbolt"

// forgetPages leaves the pages to the system.
func forgetPages(*bbolt.DB) (stop func()) { return func() {} }
