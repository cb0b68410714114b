package boltstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/internal/hint"
	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
	"teamdata/store/engine"
)

// Update hands fn to the writer and waits until its commit is on disk.
func (s *Store) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	err := s.queue.Update(ctx, scope, fn)
	if err != errUnread {
		return err
	}
	if err = s.awaitKeys(ctx); err == nil {
		err = s.queue.Update(ctx, scope, fn)
	}
	return err
}

// write is the writer: it commits batch after batch until the queue is closed.
func (s *Store) write() {
	s.queue.Run(func(batch []*engine.Update) {
		s.commit(batch)
		s.batchEnded()
	})
	s.batchEnded()
}

// commit runs a batch in one bbolt transaction, notifies of what it changed, and
// sets each update's error. If the commit fails, they all fail: one's rejection
// may be due to another's lost write.
func (s *Store) commit(batch []*engine.Update) {
	t, err := s.commitBatch(batch)
	switch {
	case err == nil:
		s.Tell(&t.Changes)
	case len(batch) > 1 && boltfile.IsFull(err):
		for i := range batch { // one that is too large doesn't fail the rest
			s.commit(batch[i : i+1])
		}
	default:
		for _, u := range batch {
			u.Err = storageFault(err)
		}
	}
}

func (s *Store) commitBatch(batch []*engine.Update) (t *tx, err error) {
	if s.life.Err() != nil {
		return nil, context.Cause(s.life)
	}
	defer func() { s.keys.end(err) }()
	began := time.Now()
	bolt, err := s.db.Begin(true)
	if err != nil {
		return nil, err
	}
	s.counted = s.counted[:0]
	t = newTx(s, bolt, &s.writing)
	defer s.writing.end()
	written := 0
	for _, u := range batch {
		wrote, err := s.run(t, u)
		if err != nil {
			return nil, errors.Join(err, bolt.Rollback())
		}
		if wrote {
			written++
		}
	}
	if written == 0 {
		return t, bolt.Rollback()
	}
	t.countedBefore = 0
	if err := engine.Recover(func(store.Tx) error { return t.writeCounts() }, t.Tx); err != nil {
		return nil, errors.Join(err, bolt.Rollback())
	}
	id := bolt.ID()
	s.file.BeforeCommit(began)
	if err = s.sync(bolt); err == nil {
		err = s.endIf(s.file.AfterCommit(began)) // after the sync: acknowledged writes are in the file at the path
	} else if s.file.AfterFailure(began, err) && s.life.Err() == nil {
		s.commitList(began)
	}
	c := store.Commit{Updates: written, Took: time.Since(began), Err: err}
	s.Committed(c)
	s.Refused(c)
	s.synced.end(id, err)
	return t, err
}

// commitList commits the list of free pages alone.
func (s *Store) commitList(now time.Time) {
	bolt, err := s.db.Begin(true)
	if err != nil {
		return
	}
	id := bolt.ID()
	s.file.BeforeCommit(now)
	if s.sync(bolt) == nil {
		s.endIf(s.file.AfterCommit(now))
		s.synced.end(id, nil)
	}
}

// run runs one update, and reports whether it left something to commit. Its own
// failure concerns only itself; run returns the error of a failed rollback, which
// fails the batch.
func (s *Store) run(t *tx, u *engine.Update) (wrote bool, err error) {
	if u.Err = u.Ctx.Err(); u.Err != nil {
		return false, nil
	}
	t.begin()
	defer t.reuseUndo()
	added, changes := len(s.keys.added), t.Changes
	if u.Err = engine.Recover(u.Fn, t.Tx); t.unread {
		u.Err = errUnread // whatever it made of that
	}
	if u.Err != nil {
		s.keys.undo(added)
		t.Changes = changes
		return false, t.rollback()
	}
	return t.dropped || len(t.undo) > 0 || len(s.counted) > t.countedBefore, nil
}

// sync commits. If that fails although the new state is visible, it is unknown
// what a restart will find: from then on the store rejects every call.
func (s *Store) sync(bolt *bbolt.Tx) error {
	if err := s.before(); err != nil {
		return errors.Join(err, bolt.Rollback())
	}
	id := bolt.ID()
	err := bolt.Commit()
	if err == nil {
		return nil
	}
	if r, rerr := s.db.Begin(false); rerr == nil {
		if r.ID() >= id {
			s.end(hint.With(fmt.Errorf("the disk failed while a commit was being written: %w", err), "check the disk, then start teamdata again"))
		}
		r.Rollback()
	}
	return err
}
