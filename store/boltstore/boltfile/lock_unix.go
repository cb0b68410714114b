//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package boltfile

import (
	"os"
	"syscall"
)

// tryLock takes bbolt's lock on an open file, exclusive or shared. EWOULDBLOCK:
// another process holds it.
func tryLock(f *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	return syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
}

// unlock releases the lock on a file; closing does not while it is mapped.
func unlock(f *os.File) { syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
