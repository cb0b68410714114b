package boltfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

const (
	compactCommit = 16 << 20               // bytes per commit of the compact file
	progressEvery = 200 * time.Millisecond // between calls of progress
)

// Compact rewrites the file at path without its free space. No process may have
// it open. The new file replaces the old one once it is on disk, verified, and
// equal in content; until then, whatever happens, path is the old file. before
// and after are their sizes in bytes. progress, if not nil, is called
// periodically with the bytes written and their approximate total.
func Compact(ctx context.Context, path string, progress func(done, total int64), verify Verify) (before, after int64, err error) {
	path = followLinks(path)
	if before, err = sizeOf(path); err != nil {
		return 0, 0, err
	}
	db, err := openExisting(path, Options{}.bolt(before))
	if err != nil {
		return 0, 0, err
	}
	defer db.Close() // also releases the lock
	t, err := newTemp(path, "compact")
	if err != nil {
		return 0, 0, err
	}
	defer t.discard()
	if err := t.compact(ctx, db, progress); err != nil {
		return 0, 0, err
	}
	if err := t.finish(ctx, path, verify); err != nil {
		return 0, 0, err
	}
	if after, err = sizeOf(t.Name()); err != nil {
		return 0, 0, err
	}
	if after >= before {
		return before, before, nil // nothing to gain
	}
	return before, after, t.placeOver()
}

// compact fills the file with what is in db.
func (t *temp) compact(ctx context.Context, db *bbolt.DB, progress func(done, total int64)) error {
	used, err := WalkPages(db, nil)
	if err != nil {
		return &Error{Path: t.target, Text: fmt.Sprintf("is damaged: page %v", err), Advice: "restore a backup", Err: err}
	}
	to, err := bbolt.Open(t.Name(), Mode, &bbolt.Options{Timeout: lockTimeout, NoSync: true, NoStatistics: true, InitialMmapSize: defaultMapSize})
	if err != nil {
		return cantWrite(t.target, err)
	}
	defer to.Close()
	to.AllocSize = to.Info().PageSize // no preallocation
	// Closing stops bbolt between two of its commits.
	defer context.AfterFunc(ctx, func() { to.Close() })()
	defer t.watch(used, progress)()
	err = GuardPages(func() error {
		if err := bbolt.Compact(to, db, compactCommit); err != nil {
			return err
		}
		return same(to, db)
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errPage):
		return at(t.target, err)
	}
	return cantWrite(t.target, errors.Join(err, to.Close()))
}

// anew copies the file's content into a new file without its free space.
func (t *temp) anew(ctx context.Context) (*temp, error) {
	size, err := sizeOf(t.Name())
	if err != nil {
		return nil, err
	}
	db, err := openExisting(t.Name(), Options{}.bolt(size))
	if err != nil {
		return nil, rename(t.target, t.Name(), err)
	}
	defer db.Close()
	to, err := newTemp(t.target, "compact")
	if err != nil {
		return nil, err
	}
	if err := to.compact(ctx, db, nil); err != nil {
		to.discard()
		return nil, err
	}
	return to, nil
}

// watch calls progress periodically until stopped.
func (t *temp) watch(total int64, progress func(done, total int64)) (stop func()) {
	if progress == nil {
		return func() {}
	}
	return every(progressEvery, func() {
		if info, err := t.Stat(); err == nil {
			progress(min(info.Size(), total), total)
		}
	})
}

// every calls fn at each interval until stop is called, which waits for a running call.
func every(interval time.Duration, fn func()) (stop func()) {
	stopping := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-stopping:
				return
			case <-tick.C:
				fn()
			}
		}
	})
	return func() {
		close(stopping)
		ended.Wait()
	}
}

var errNotSame = errors.New("the compacted file differs from the old one; nothing was changed")

// same checks that two files have the same content.
func same(a, b *bbolt.DB) error {
	return a.View(func(one *bbolt.Tx) error {
		return b.View(func(other *bbolt.Tx) error {
			return sameBucket(one.Cursor().Bucket(), other.Cursor().Bucket())
		})
	})
}

func sameBucket(a, b *bbolt.Bucket) error {
	if a.Sequence() != b.Sequence() {
		return errNotSame
	}
	inA, inB := a.Cursor(), b.Cursor()
	key, value := inA.First()
	keyB, valueB := inB.First()
	for key != nil || keyB != nil {
		if !bytes.Equal(key, keyB) || !bytes.Equal(value, valueB) || (value == nil) != (valueB == nil) {
			return errNotSame
		}
		if value == nil {
			if err := sameBucket(a.Bucket(key), b.Bucket(key)); err != nil {
				return err
			}
		}
		key, value = inA.Next()
		keyB, valueB = inB.Next()
	}
	return nil
}
