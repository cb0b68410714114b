package boltstore

import (
	"sync"
	"sync/atomic"
	"time"
)

// synced is the last commit that is on disk. bbolt makes a commit visible as soon
// as its head is written, and then syncs the head: an answer from it before the
// sync has ended could show what a power cut can still undo.
type synced struct {
	id      atomic.Int64 // of bbolt's transaction
	mu      sync.Mutex   // of moved and waiters
	moved   sync.Cond
	waiters chan struct{} // closed by batchEnded; nil: nobody gives way
}

func (s *synced) init(id int) {
	s.moved.L = &s.mu
	s.id.Store(int64(id))
}

// end wakes waiters after a commit. Its error is nil if it is on disk.
func (s *synced) end(id int, err error) {
	if err == nil {
		s.id.Store(int64(id))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moved.Broadcast()
}

// waitSynced waits until a commit is on disk, for one sync at most. It returns
// false if it is unknown whether it ever will be.
func (s *Store) waitSynced(id int) bool {
	there := func() bool { return int64(id) <= s.synced.id.Load() }
	if there() { // the usual case, without a lock shared by all readers
		return true
	}
	s.synced.mu.Lock()
	defer s.synced.mu.Unlock()
	for !there() && s.life.Err() == nil {
		s.synced.moved.Wait()
	}
	return there()
}

// How long reading goes on before it gives way to the writer: in a View, where a page
// of a list takes a tenth of it; and in the check of a backup, for which nobody waits
// but which must come to its end. It waits for maxWay at most: the disk may be stuck.
const (
	longRead  = 50 * time.Microsecond
	longCheck = time.Millisecond
	maxWay    = 10 * time.Millisecond
)

// giveWay waits, while the writer is busy, until the batch of updates that it is at
// has ended, and for as long as the reading took. Called after each stretch of long
// reading, it leaves the processors to those who wait for commits: a single reader
// would take one of them for itself.
func (s *Store) giveWay(took time.Duration) {
	if !s.queue.Busy.Load() {
		return
	}
	began := time.Now()
	select {
	case <-s.synced.batchEnd():
		time.Sleep(min(took, maxWay) - time.Since(began))
	case <-time.After(maxWay):
	}
}

func (s *synced) batchEnd() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiters == nil {
		s.waiters = make(chan struct{})
	}
	return s.waiters
}

// batchEnded lets go on who gave way.
func (s *Store) batchEnded() {
	s.queue.Busy.Store(false)
	s.synced.mu.Lock()
	defer s.synced.mu.Unlock()
	if s.synced.waiters != nil {
		close(s.synced.waiters)
		s.synced.waiters = nil
	}
}
