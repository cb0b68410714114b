//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package boltfile

import (
	"os"
	"syscall"
)

// tryLock takes the lock on an open file, as bbolt does, alone or shared with
// others who share it. EWOULDBLOCK means that it is held.
func tryLock(f *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	return syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
}

// unlock ends the lock on a file, which closing does not while it is mapped.
func unlock(f *os.File) { syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
