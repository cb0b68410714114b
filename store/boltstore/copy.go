package boltstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// A copy goes to the system's cache fast, for commits can't use the space again
// that they free while it is made. Then it goes to the disk in small pieces with
// rests, for the commits wait for the same disk.
const (
	pieceSize = 256 << 10            // bytes that go to the disk at once
	pieceRest = 4 * time.Millisecond // the disk's rest after each
	maxCached = 128 << 20            // bytes that wait in the cache
)

// pieces writes a file from its start until ctx is done.
type pieces struct {
	ctx     context.Context
	file    *os.File
	written int64
	onDisk  int64 // how many of them are on the disk, beside more that may be
	failed  error // bbolt makes a text of it
}

func (p *pieces) Write(b []byte) (n int, err error) {
	if p.failed = context.Cause(p.ctx); p.failed != nil {
		return 0, p.failed
	}
	n, p.failed = p.file.Write(b)
	p.written += int64(n)
	if p.failed == nil && p.written-p.onDisk > maxCached {
		p.failed = p.toDisk()
	}
	return n, p.failed
}

// toDisk brings a piece to the disk.
func (p *pieces) toDisk() error {
	n := min(pieceSize, p.written-p.onDisk)
	err := writeBack(p.file, p.onDisk, n)
	p.onDisk += n
	return err
}

// flush brings the rest to the disk, in no haste.
func (p *pieces) flush(ctx context.Context) error {
	for p.onDisk < p.written {
		if err := p.toDisk(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pieceRest):
		}
	}
	return nil
}

// cantWrite says what keeps a file from being written, or its place from being
// taken.
func cantWrite(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case isFull(err):
		return fmt.Errorf("%s can't be written: the disk is full (%w); make room, or choose another disk", path, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s can't be written by this user (%w); mend the owner and mode of the folder %s (0700)", path, err, filepath.Dir(path))
	}
	return fmt.Errorf("%s can't be written: %w", path, err)
}

var errSlowDisk = fmt.Errorf("the disk takes less than %d MiB a second; choose another disk", slowest>>20)

// slowest is how many bytes a second a disk takes at least.
const slowest = 1 << 20

// copyMoment copies what a transaction sees. It has time for a slow disk, and
// not for one that stands still.
func copyMoment(ctx context.Context, bolt *bbolt.Tx, t *temp) (*pieces, error) {
	enough := time.Minute + time.Duration(bolt.Size()/slowest)*time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, enough, errSlowDisk)
	defer cancel()
	p := &pieces{ctx: ctx, file: t.File}
	_, err := bolt.WriteTo(p)
	return p, cantWrite(t.target, cmp.Or(p.failed, err))
}
