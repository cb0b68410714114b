//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package boltfile

import (
	"errors"
	"os"
)

// tryLock is unsupported here, and so is replacing a whole file.
func tryLock(*os.File, bool) error { return errors.ErrUnsupported }

// unlock does nothing: the lock lasts until the process ends.
func unlock(*os.File) {}

// mapFile reads a file without a map.
func mapFile(file *os.File) (read func(at int64, n int) ([]byte, error), unmap func(), err error) {
	return readFrom(file), func() {}, nil
}
