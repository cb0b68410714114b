package boltstore

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/store"
)

// slowCommit is a store in which a commit is being made until finish is called.
func slowCommit(t *testing.T) (f *fixture, finish func()) {
	var slow atomic.Bool
	goOn := make(chan struct{})
	f = newFixture(t, Options{NoSync: true, BeforeCommit: func() error {
		if slow.Swap(false) {
			<-goOn
		}
		return nil
	}})
	slow.Store(true)
	go f.Update(bg, store.All, appendAudit("usr_1"))
	synctest.Wait()
	return f, func() {
		close(goOn)
		synctest.Wait()
	}
}

// longView reads for longer than a View may without giving way.
func longView(store.Tx) error {
	time.Sleep(2 * longRead)
	return nil
}

func TestLongViewGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, finish := slowCommit(t)
		took := func(fn func(store.Tx) error) time.Duration {
			start := time.Now()
			f.view(fn)
			return time.Since(start)
		}
		f.says("a short View", took(func(store.Tx) error { return nil }), "0s")
		f.says("a long one beside a commit that is stuck", took(longView), fmt.Sprint(2*longRead+maxWay))
		var ended atomic.Int32
		for range 3 {
			go func() {
				f.View(bg, longView)
				ended.Add(1)
			}()
		}
		time.Sleep(maxWay / 2)
		reads, _ := f.OpenViews()
		f.says("Views that ended beside the commit, and transactions open", []int{int(ended.Load()), reads}, "[0 0]")
		finish()
		f.says("Views that ended with it", ended.Load(), "3")
		f.says("a long one, when nothing is written", took(longView), fmt.Sprint(2*longRead))

		const read = 4 * time.Millisecond
		f.queue.Busy.Store(true)
		time.AfterFunc(read+time.Millisecond, f.batchEnded)
		f.says("4 ms of reading, after which a batch goes on for 1 ms", took(func(store.Tx) error {
			time.Sleep(read)
			return nil
		}), fmt.Sprint(2*read))
	})
}

// TestBackupGivesWay: the check of a backup waits while a commit is made, and ends
// after it.
func TestBackupGivesWay(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	f.update(func(tx store.Tx) (err error) {
		for range 10_000 {
			err = errors.Join(err, appendAudit("usr_1")(tx))
		}
		return err
	})
	f.queue.Busy.Store(true) // until batchEnded
	made := make(chan error, 1)
	go func() { made <- f.Backup(bg, filepath.Join(t.TempDir(), "backup.db")) }()
	until(t, "the check gives way", func() bool {
		stacks := make([]byte, 1<<20)
		return bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("(*Store).giveWay"))
	})
	f.batchEnded()
	must(t, <-made)
}
