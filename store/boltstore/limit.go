package boltstore

import (
	"errors"
	"syscall"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// limit is how large the file may become.
type limit struct {
	size    int // 0: no limit
	reserve int // kept back for commits that take away more than they add
}

// newLimit makes a limit, and fits to it the steps in which bbolt grows a file:
// it does not grow one that is nearer to its limit than one step.
func newLimit(db *bbolt.DB, size int) limit {
	if size <= 0 {
		return limit{}
	}
	db.AllocSize = min(db.AllocSize, size/16)
	return limit{size, db.AllocSize}
}

// of is the limit of a commit that adds so many bytes. bbolt writes a delete to
// new pages, before it frees the old ones: with none in reserve, a full file
// could never become less full.
func (l limit) of(grown int) int {
	if grown < 0 {
		return l.size
	}
	return l.size - l.reserve
}

// isFull tells whether a smaller commit might pass.
func isFull(err error) bool {
	return errors.Is(err, berrors.ErrMaxSizeReached) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
