package boltstore

import (
	"context"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// Commit is what OnCommit reports of one commit.
type Commit struct {
	Updates int           // number of Updates that shared it
	Took    time.Duration // from its first update's start to the end of its sync
	Err     error         // nil: it is on disk
}

// OnCommit sets fn to be called by the writer after each commit. fn must not
// block. It is set once, before the first Update that it needs to see.
func (s *Store) OnCommit(fn func(Commit)) { s.watch.onCommit.Store(&fn) }

// LastCommit returns when the last commit succeeded, by the system's clock; zero:
// none since Open, or the last one failed.
func (s *Store) LastCommit() time.Time {
	if ns := s.watch.committed.Load(); ns != 0 {
		return time.Unix(0, ns)
	}
	return time.Time{}
}

// Probe makes an empty commit, through the writer and to disk like any other. Its
// errors are those of an Update.
func (s *Store) Probe(ctx context.Context) error {
	return s.Update(ctx, store.Scope{}, func(t store.Tx) error {
		t.(*tx).dropped = true
		return nil
	})
}

// watch is the monitoring data of a Store.
type watch struct {
	onCommit  atomic.Pointer[func(Commit)]
	committed atomic.Int64 // unix nanoseconds of the last commit; 0: none, or it failed
	reads     reads
}

// notify records when a commit ended and calls OnCommit's function.
func (w *watch) notify(c Commit) {
	if w.committed.Store(time.Now().UnixNano()); c.Err != nil {
		w.committed.Store(0)
	}
	if fn := w.onCommit.Load(); fn != nil {
		(*fn)(c)
	}
}

// reads tracks the open read transactions by start time in unix nanoseconds; 0 is
// a free slot. Transactions beyond the slots run uncounted.
type reads struct {
	next  atomic.Uint32
	began [256]atomic.Int64
}

// enter takes a slot for a read transaction.
func (r *reads) enter() (leave *atomic.Int64) {
	now := time.Now().UnixNano()
	first := r.next.Add(1)
	for i := range uint32(len(r.began)) {
		place := &r.began[(first+i)%uint32(len(r.began))]
		if place.CompareAndSwap(0, now) {
			return place
		}
	}
	return new(atomic.Int64)
}

func (r *reads) open() (n int, oldest time.Duration) {
	now := time.Now().UnixNano()
	for i := range r.began {
		if began := r.began[i].Load(); began != 0 {
			n++
			oldest = max(oldest, time.Duration(now-began))
		}
	}
	return n, oldest
}

// Stats are the statistics of an open data file.
type Stats struct {
	Reads      int           // open read transactions, up to 256
	OldestRead time.Duration // age of the oldest of them
	Size       int64         // of the file, in bytes
	FreePages  int64         // pages that later commits can reuse, as of up to a minute ago
	PageSize   int           // in bytes
}

// Stats reads nothing of the file but its size.
func (s *Store) Stats() (st Stats, err error) {
	st.Reads, st.OldestRead = s.watch.reads.open()
	st.PageSize, st.FreePages = s.db.Info().PageSize, s.file.FreePages()
	st.Size, err = s.file.Size()
	return st, err
}

// About describes a data file.
type About struct {
	Path   string
	Size   int64 // bytes
	Schema int
	Sealed bool
	Newest time.Time // the newest of the stored times that new ones follow; zero: there is none
	Now    time.Time // by the clock of the Store
}

// About returns a description of the open data file.
func (s *Store) About() (About, error) {
	size, err := s.file.Size()
	if err != nil {
		return About{}, err
	}
	about := About{Path: s.Path(), Size: size, Schema: int(schemaVersion()), Sealed: s.seal.On()}
	err = s.view(func(t *tx) error {
		about.Newest, about.Now = t.newest(), t.now
		return nil
	})
	return about, err
}
