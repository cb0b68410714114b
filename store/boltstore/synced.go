package boltstore

import "sync"

// synced is the last commit that is on the disk. bbolt shows a commit as soon as its
// head is written, and syncs the head then: whoever answered from it before the sync
// has ended would promise what a power cut can still take away.
type synced struct {
	mu    sync.Mutex
	moved sync.Cond
	id    int // of bbolt's transaction
}

func (s *synced) init(id int) { s.moved.L, s.id = &s.mu, id }

// end tells those who wait that a commit has ended. Its error is nil when it is on the
// disk.
func (s *synced) end(id int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.id = id
	}
	s.moved.Broadcast()
}

// waitSynced waits until a commit is on the disk, which takes one sync at most. It reports
// false if nobody can say whether it ever will be.
func (s *Store) waitSynced(id int) bool {
	s.synced.mu.Lock()
	defer s.synced.mu.Unlock()
	for id > s.synced.id && s.life.Err() == nil {
		s.synced.moved.Wait()
	}
	return id <= s.synced.id
}
