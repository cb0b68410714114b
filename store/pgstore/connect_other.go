//go:build !linux

package pgstore

import "syscall"

func setUserTimeout(string, string, syscall.RawConn) error { return nil }
