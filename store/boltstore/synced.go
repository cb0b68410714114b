package boltstore

import (
	"sync"
	"sync/atomic"
)

// synced is the last commit that is on the disk. bbolt shows a commit as soon as its
// head is written, and syncs the head then: whoever answered from it before the sync
// has ended would promise what a power cut can still take away.
type synced struct {
	id    atomic.Int64 // of bbolt's transaction
	mu    sync.Mutex   // of moved
	moved sync.Cond
}

func (s *synced) init(id int) {
	s.moved.L = &s.mu
	s.id.Store(int64(id))
}

// end tells those who wait that a commit has ended. Its error is nil when it is on the
// disk.
func (s *synced) end(id int, err error) {
	if err == nil {
		s.id.Store(int64(id))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moved.Broadcast()
}

// waitSynced waits until a commit is on the disk, which takes one sync at most. It reports
// false if nobody can say whether it ever will be.
func (s *Store) waitSynced(id int) bool {
	there := func() bool { return int64(id) <= s.synced.id.Load() }
	if there() { // nearly always, and without a lock that all readers share
		return true
	}
	s.synced.mu.Lock()
	defer s.synced.mu.Unlock()
	for !there() && s.life.Err() == nil {
		s.synced.moved.Wait()
	}
	return there()
}
