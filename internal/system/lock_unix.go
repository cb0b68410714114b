//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package system

import (
	"errors"
	"os"
	"syscall"
)

// LockFile locks an open file until it is closed, and reports whether another process has
// locked it. A file system without locks locks nothing.
func LockFile(f *os.File) (byOther bool) {
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
