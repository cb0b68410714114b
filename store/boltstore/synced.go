package boltstore

import (
	"sync"
	"sync/atomic"
)

// synced is the last commit that is on disk. bbolt makes a commit visible as soon
// as its head is written, and then syncs the head: an answer from it before the
// sync has ended could show what a power cut can still undo.
type synced struct {
	id    atomic.Int64 // of bbolt's transaction
	mu    sync.Mutex   // of moved
	moved sync.Cond
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
