package boltstore

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/internal/hint"
	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

// Options tune the engine. The zero value is meant for production.
type Options struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// MapSize is how many bytes of address space are reserved for the file in
	// advance, so that growing does not wait for readers; 0 means 1 GiB, or
	// twice the file if that is more.
	MapSize int
	// Sealer seals the file's secrets; nil leaves them in plain text. A file is
	// sealed as a whole, and from then on opens with its Sealer alone.
	Sealer Sealer
	// NoSync skips the disk's sync: for tests that don't crash, and for copies.
	// No copy is kept of such a file when it is migrated.
	NoSync bool
	// BeforeCommit is called, by the writer, when a commit is about to be
	// written: for tests. An error fails the commit, as a full disk does.
	BeforeCommit func() error
}

// Store is a bbolt file as a store.Store.
type Store struct {
	db    *bbolt.DB
	clock func() time.Time
	seal  sealing
	claims
	generation atomic.Uint64
	sealedNow  bool   // by this Open
	oldSchema  uint64 // that this Open has found, if it was older
	keptOld    string // the copy of the file as it was then
	place      *boltfile.Place
	life       context.Context
	end        context.CancelCauseFunc // of life

	queue  queue
	synced synced
	ids    store.IDSource // belongs to the writer, as does undo
	undo   []change       // room for the undo log of one update after another
	before func() error   // Options.BeforeCommit
	onDue  atomic.Pointer[func(endpoint uint64, due time.Time)]
	watch  watch
	closed chan struct{} // closed when the writer has ended
}

var _ store.Store = (*Store)(nil)

func inDoubt(err error) error {
	return hint.With(fmt.Errorf("the disk failed while a commit was being written: %w", err), "check the disk, then start teamdata again")
}

// Life ends when the Store can't go on, with the reason as its cause: the disk
// failed in a way that leaves the last commit in doubt, or the file is no longer the
// one at its path. Until the file is opened again everything is refused.
func (s *Store) Life() context.Context { return s.life }

// CheckPlace ends the Life of a Store whose file is no longer the one at its path.
// The writer does so with each commit.
func (s *Store) CheckPlace() error { return s.endIf(s.place.Check()) }

func (s *Store) endIf(err error) error {
	if err != nil {
		s.end(err)
	}
	return err
}

// View runs fn on one moment of the data. A commit that is being written is on the
// disk before fn sees it.
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.view(func(t *tx) error { return fn(t) })
}

func (s *Store) view(fn func(*tx) error) error {
	if s.life.Err() != nil {
		return storageFault(context.Cause(s.life))
	}
	bolt, err := s.db.Begin(false)
	if err != nil {
		return storageFault(err)
	}
	defer bolt.Rollback()
	if !s.waitSynced(bolt.ID()) {
		return storageFault(context.Cause(s.life))
	}
	defer s.watch.reads.enter().Store(0)
	return fn(&tx{s: s, bolt: bolt, now: s.now()})
}

func (s *Store) now() time.Time { return s.clock().UTC().Truncate(time.Millisecond) }

// AccessGeneration is bumped by the writer after each commit that touched what
// an Access depends on.
func (s *Store) AccessGeneration() uint64 { return s.generation.Load() }

// Close lets the Updates that were begun finish, and closes the file.
func (s *Store) Close() error {
	s.queue.close()
	<-s.closed
	return s.db.Close()
}

// Path is where the data file is.
func (s *Store) Path() string { return s.db.Path() }

// SealedNow reports whether Open has sealed the file, which was new or in plain
// text until then.
func (s *Store) SealedNow() bool { return s.sealedNow }
