//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package boltfile

import (
	"io"
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

// mapFile maps a file, so that reading a part of it costs no call of the system. A
// part that is missing at its end is a fault, which GuardPages makes an error.
func mapFile(file *os.File) (read func(at int64, n int) ([]byte, error), unmap func(), err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	b, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	syscall.Madvise(b, syscall.MADV_WILLNEED) // advice: without it a cold file takes longer
	read = func(at int64, n int) ([]byte, error) {
		if at < 0 || at+int64(n) > int64(len(b)) {
			return nil, io.ErrUnexpectedEOF
		}
		return b[at : at+int64(n)], nil
	}
	return read, func() { syscall.Munmap(b) }, nil
}
