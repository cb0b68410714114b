//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package boltfile

import (
	"io"
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

// mapFile maps a file into memory, so that reads need no system calls. Reading past
// the end of a file cut short is a fault, which GuardPages turns into an error.
func mapFile(file *os.File) (read func(at int64, n int) ([]byte, error), unmap func(), err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	b, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	readAhead(b)
	read = func(at int64, n int) ([]byte, error) {
		if at < 0 || at+int64(n) > int64(len(b)) {
			return nil, io.ErrUnexpectedEOF
		}
		return b[at : at+int64(n)], nil
	}
	return read, func() { syscall.Munmap(b) }, nil
}
