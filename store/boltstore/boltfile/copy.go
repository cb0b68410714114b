package boltfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"go.etcd.io/bbolt"
)

// A copy is written to the system's cache at full speed, because commits can't
// reuse freed space meanwhile. Then it is written to disk in chunks with pauses
// between them, because commits need the same disk.
const (
	chunkSize  = 256 << 10            // bytes written to disk at once
	chunkPause = 4 * time.Millisecond // the pause after each
	maxCached  = 128 << 20            // bytes waiting in the cache
)

// pacedWriter writes a file from its start until ctx is done.
type pacedWriter struct {
	ctx     context.Context
	file    *os.File
	written int64
	onDisk  int64 // how many of them are known to be on disk
	failed  error // the error itself: bbolt returns only its text
}

func (w *pacedWriter) Write(b []byte) (n int, err error) {
	if w.failed = context.Cause(w.ctx); w.failed != nil {
		return 0, w.failed
	}
	n, w.failed = w.file.Write(b)
	w.written += int64(n)
	if w.failed == nil && w.written-w.onDisk > maxCached {
		w.failed = w.toDisk()
	}
	return n, w.failed
}

// toDisk writes a chunk to disk.
func (w *pacedWriter) toDisk() error {
	n := min(chunkSize, w.written-w.onDisk)
	err := writeBack(w.file, w.onDisk, n)
	w.onDisk += n
	return err
}

// flush writes the rest to disk, pausing between chunks.
func (w *pacedWriter) flush(ctx context.Context) error {
	for w.onDisk < w.written {
		if err := w.toDisk(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(chunkPause):
		}
	}
	return nil
}

var errSlowDisk = fmt.Errorf("the disk takes less than %d MiB a second", slowest>>20)

// slowest is the slowest disk expected, in bytes per second.
const slowest = 1 << 20

// copyMoment copies the snapshot of a transaction. Its timeout allows for a slow
// disk, but not for a stalled one.
func copyMoment(ctx context.Context, bolt *bbolt.Tx, t *temp) (*pacedWriter, error) {
	enough := time.Minute + time.Duration(bolt.Size()/slowest)*time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, enough, errSlowDisk)
	defer cancel()
	w := &pacedWriter{ctx: ctx, file: t.File}
	if _, err := bolt.WriteTo(w); w.failed != nil || err != nil {
		return w, cantWrite(t.target, cmp.Or(w.failed, err))
	}
	err := restoreFreelist(t.File, false)
	if errors.Is(err, errPage) {
		return w, at(bolt.DB().Path(), err)
	}
	return w, cantWrite(t.target, err)
}

// copyFile copies a file that no program is writing.
func copyFile(ctx context.Context, path string, t *temp) error {
	return Read(path, func(db *bbolt.DB) error {
		return db.View(func(bolt *bbolt.Tx) error {
			_, err := copyMoment(ctx, bolt, t)
			return err
		})
	})
}

// sparseWriter skips chunks of zeros, such as space preallocated by bbolt.
type sparseWriter struct{ pacedWriter }

var zeros [32 << 10]byte

func (w *sparseWriter) Write(b []byte) (int, error) {
	if len(b) > len(zeros) || !bytes.Equal(b, zeros[:len(b)]) {
		return w.pacedWriter.Write(b)
	}
	w.written += int64(len(b))
	_, err := w.file.Seek(w.written, io.SeekStart)
	return len(b), err
}
