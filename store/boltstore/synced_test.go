package boltstore

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"

	"teamdata/store"
)

// A View sees no commit before its sync has ended, which OnCommit tells: bbolt would
// show it from when its head is written.
func TestViewsSeeWhatIsSynced(t *testing.T) {
	f := newFixture(t, Options{})
	var synced, seen atomic.Int64
	f.OnCommit(func(store.Commit) { synced.Add(1) })
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
			}
			f.view(func(tx store.Tx) error {
				if n, _ := tx.Certificate("n"); string(n) > fmt.Sprintf("%03d", synced.Load()) {
					seen.Add(1)
				}
				return nil
			})
		}
	}()
	const commits = 100
	for i := range commits {
		f.update(func(tx store.Tx) error { return tx.PutCertificate("n", fmt.Appendf(nil, "%03d", i+1)) })
	}
	close(done)
	<-ended
	if n := seen.Load(); n > 0 {
		t.Errorf("%d views saw one of %d commits before it was synced", n, commits)
	}
}

// What an update refuses because of another is so only if that other one is on the
// disk: when their commit fails, both are told that.
func TestRefusedBecauseOfACommitThatFails(t *testing.T) {
	for _, fault := range []error{syscall.EIO, syscall.ENOSPC} {
		var failing atomic.Bool
		f := newFixture(t, Options{NoSync: true, BeforeCommit: func() error {
			if failing.Load() {
				return fault
			}
			return nil
		}})
		add := func(tx store.Tx) error {
			if _, err := tx.Certificate("a"); err == nil {
				return store.Errorf(store.CodeConflict, "It is there.")
			}
			return tx.PutCertificate("a", []byte("1"))
		}
		failing.Store(true)
		for i, err := range f.batch(add, add) {
			if store.CodeOf(err) != store.CodeUnavailable {
				t.Errorf("after %v, number %d is told %v", fault, i+1, err)
			}
		}
		failing.Store(false)
		f.update(add)
	}
}
