package boltstore

import (
	"context"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// OnCommit sets fn to be called by the writer.
func (s *Store) OnCommit(fn func(store.Commit)) { s.watch.onCommit.Store(&fn) }

// LastCommit is that of this process.
func (s *Store) LastCommit() time.Time {
	if ns := s.watch.committed.Load(); ns != 0 {
		return time.Unix(0, ns)
	}
	return time.Time{}
}

// Probe commits through the writer and to disk, like any other.
func (s *Store) Probe(ctx context.Context) error {
	return s.Update(ctx, store.Scope{}, func(t store.Tx) error {
		t.(*tx).dropped = true
		return nil
	})
}

// watch is the monitoring data of a Store.
type watch struct {
	onCommit  atomic.Pointer[func(store.Commit)]
	committed atomic.Int64 // unix nanoseconds of the last commit; 0: none, or it failed
	reads     reads
}

// notify records when a commit ended and calls OnCommit's function.
func (w *watch) notify(c store.Commit) {
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

// Stats reads nothing of the file but its size.
func (s *Store) Stats() (st store.Stats, err error) {
	st.Reads, st.OldestRead = s.watch.reads.open()
	st.Free = s.file.FreePages() * int64(s.db.Info().PageSize)
	st.Size, err = s.file.Size()
	return st, err
}

// About returns a description of the open data file.
func (s *Store) About() (store.About, error) {
	size, err := s.file.Size()
	if err != nil {
		return store.About{}, err
	}
	about := store.About{Place: s.Path(), Size: size, Schema: int(schemaVersion()), Sealed: s.seal.On()}
	err = s.view(func(t *tx) error {
		about.Newest, about.Now = t.newest(), t.now
		return nil
	})
	return about, err
}
