package pgstore

import (
	"context"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// Commit is what OnCommit reports of one commit.
type Commit struct {
	Updates int           // number of Updates that shared it
	Took    time.Duration // from its first update's start to the database's answer
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
		t.(*tx).over.probed = true
		return nil
	})
}

// watch is the monitoring data of a Store.
type watch struct {
	onCommit  atomic.Pointer[func(Commit)]
	committed atomic.Int64 // unix nanoseconds of the last commit; 0: none, or it failed
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
