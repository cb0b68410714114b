package boltstore

import (
	"context"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
	"teamdata/store/engine"
	"teamdata/store/rows"
)

// Options tune the engine. The zero value is for production.
type Options struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// MapSize is how many bytes of address space are reserved for the file in
	// advance, so that growth does not wait for readers; 0 means 1 GiB, or twice
	// the file if that is more.
	MapSize int
	// Sealer seals the file's secrets; nil leaves them in plain text. A file is
	// sealed as a whole, and from then on opens only with its Sealer.
	Sealer Sealer
	// ForTests is for a server that is being tested: Clear deletes its data, and endpoints
	// may have http:// URLs of this machine.
	ForTests bool
	// NoSync skips the disk's sync: for tests that don't crash, and for copies.
	// Migrating such a file keeps no copy.
	NoSync bool
	// BeforeCommit is called before each commit, also that of Close, for tests. An
	// error fails the commit, as a full disk would.
	BeforeCommit func() error
}

// Store is a bbolt file as a store.Store.
type Store struct {
	db    *bbolt.DB
	clock func() time.Time
	tests bool // Options.ForTests
	seal  rows.Sealing
	store.Alone
	engine.Notices
	engine.Watch
	sealedNow bool   // by this Open
	oldSchema uint64 // found by this Open, if older
	keptOld   string // the copy of the file at that schema
	file      *boltfile.File
	life      context.Context
	end       context.CancelCauseFunc // of life

	queue   *engine.Queue
	synced  synced
	keys    keyIndex
	ids     store.IDSource // owned by the writer, as are writing and counted
	writing writing        // reused by each batch
	counted []counted      // by the updates of a batch, written at its end
	before  func() error   // Options.BeforeCommit
}

var _ store.FileEngine = (*Store)(nil)

// Life ends when the outcome of the last commit is unknown after a disk fault, when
// the file is no longer the one at its path, and with Close. Until it is reopened every
// call fails.
func (s *Store) Life() context.Context { return s.life }

// CheckPlace compares the file with the one at its path. The writer does so with each
// commit.
func (s *Store) CheckPlace() error { return s.endIf(s.file.Check()) }

func (s *Store) endIf(err error) error {
	if err != nil {
		s.end(err)
	}
	return err
}

// View runs fn on a consistent snapshot of the data. A commit being written is on
// disk before fn sees it. If fn takes long, View gives way to the writer after it.
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var began time.Time
	run := func(t *tx) error {
		began = time.Now()
		return fn(t.Tx)
	}
	err := s.view(run)
	if err == errUnread {
		if err = s.awaitKeys(ctx); err != nil {
			return err
		}
		err = s.view(run)
	}
	if took := time.Since(began); !began.IsZero() && took > longRead {
		s.giveWay(took)
	}
	return err
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
	defer s.EnterView().Store(0)
	t := newTx(s, bolt, nil)
	t.now = s.Now()
	if err = fn(t); t.unread {
		return errUnread
	}
	return err
}

// Now is the system's clock, or that of Options.
func (s *Store) Now() time.Time { return s.clock().UTC().Truncate(time.Millisecond) }

// ClockOffset is that of the machine to itself.
func (s *Store) ClockOffset() time.Duration { return 0 }

// Close waits for pending Updates and closes the file.
func (s *Store) Close() error {
	s.queue.Close()
	s.keys.closing.Store(true)
	<-s.keys.done
	sound := s.life.Err() == nil
	s.end(engine.ErrClosed) // no View waits for the sync of the list of free pages
	return s.file.Close(sound && s.before() == nil)
}

// Path returns the path of the data file.
func (s *Store) Path() string { return s.db.Path() }

// SealedNow reports whether this Open sealed the file, which was new or in plain
// text.
func (s *Store) SealedNow() bool { return s.sealedNow }
