package boltfile

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"go.etcd.io/bbolt"
)

// A copy goes to the system's cache fast, because commits can't reuse the space that
// they free while it is made. Then it is written to the disk in chunks with pauses
// between them, because the commits wait for the same disk.
const (
	chunkSize  = 256 << 10            // bytes that are written to the disk at once
	chunkPause = 4 * time.Millisecond // the pause after each
	maxCached  = 128 << 20            // bytes that wait in the cache
)

// pacedWriter writes a file from its start until ctx is done.
type pacedWriter struct {
	ctx     context.Context
	file    *os.File
	written int64
	onDisk  int64 // how many of them are on the disk, beside more that may be
	failed  error // bbolt makes a text of it
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

// toDisk brings a piece to the disk.
func (w *pacedWriter) toDisk() error {
	n := min(chunkSize, w.written-w.onDisk)
	err := writeBack(w.file, w.onDisk, n)
	w.onDisk += n
	return err
}

// flush brings the rest to the disk, with pauses between the chunks.
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

// slowest is how many bytes a second a disk takes at least.
const slowest = 1 << 20

// copyMoment copies what a transaction sees. It has time for a slow disk, and
// not for one that stands still.
func copyMoment(ctx context.Context, bolt *bbolt.Tx, t *temp) (*pacedWriter, error) {
	enough := time.Minute + time.Duration(bolt.Size()/slowest)*time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, enough, errSlowDisk)
	defer cancel()
	w := &pacedWriter{ctx: ctx, file: t.File}
	_, err := bolt.WriteTo(w)
	return w, cantWrite(t.target, cmp.Or(w.failed, err))
}

// copyFile copies a file that no program writes.
func copyFile(ctx context.Context, path string, t *temp) error {
	return Read(path, func(db *bbolt.DB) error {
		return db.View(func(bolt *bbolt.Tx) error {
			_, err := copyMoment(ctx, bolt, t)
			return err
		})
	})
}

// sparseWriter leaves out what is all zero, as the room is that bbolt takes in
// advance.
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
