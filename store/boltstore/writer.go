package boltstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

// maxBatch is the maximum number of Updates per commit: it bounds the memory of a
// commit and how long its callers wait for one another.
const maxBatch = 1024

// maxPatience is how long a patient update waits for another to share its commit.
const maxPatience = 20 * time.Millisecond

// gatherYields is how often the writer yields to other goroutines before it
// counts the gathered updates again.
const gatherYields = 4

// update is one Update passing through the writer.
type update struct {
	ctx     context.Context
	patient bool
	fn      func(store.Tx) error
	err     error
	done    chan struct{}
}

// queue is where updates wait for the writer.
type queue struct {
	mu      sync.Mutex
	waiting []*update
	closed  bool
	busy    atomic.Bool   // from when the writer takes updates to the end of their commit
	work    chan struct{} // has one token while updates may be waiting
	patient *time.Timer   // puts the token there if only patient updates wait
	spare   sync.Pool     // of *update
}

func (q *queue) init() {
	q.work = make(chan struct{}, 1)
	q.patient = time.AfterFunc(maxPatience, q.signal)
	q.patient.Stop()
	q.spare.New = func() any { return &update{done: make(chan struct{}, 1)} }
}

var errClosed = errors.New("the store is closed")

func (q *queue) push(u *update) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return storageFault(errClosed)
	}
	q.waiting = append(q.waiting, u)
	switch {
	case !u.patient:
		q.signal()
	case len(q.waiting) == 1: // otherwise it is signaled, or the timer runs
		q.patient.Reset(maxPatience)
	}
	return nil
}

func (q *queue) signal() {
	select {
	case q.work <- struct{}{}:
	default:
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}

// gather waits for updates and takes up to maxBatch of them into batch; open
// is false once the queue is closed and empty.
func (q *queue) gather(batch []*update) (_ []*update, open bool) {
	<-q.work
	q.busy.Store(true)
	q.settle()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.patient.Stop()
	n := min(len(q.waiting), maxBatch)
	batch = append(batch, q.waiting[:n]...)
	q.waiting = append(q.waiting[:0], q.waiting[n:]...)
	if len(q.waiting) > 0 || q.closed {
		q.signal()
	}
	return batch, n > 0 || !q.closed
}

// settle yields to other goroutines as long as that brings more updates, so that
// callers woken by one commit share the next. It uses no timer, so a lone caller
// does not wait.
func (q *queue) settle() {
	for seen, n := 0, q.len(); n > seen && n < maxBatch; seen, n = n, q.len() {
		for range gatherYields {
			runtime.Gosched()
		}
	}
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// Update hands fn to the writer and waits until its commit is on disk.
func (s *Store) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	err := s.update(ctx, scope.Patient, fn)
	if err != errUnread {
		return err
	}
	if err = s.awaitKeys(ctx); err == nil {
		err = s.update(ctx, scope.Patient, fn)
	}
	return err
}

func (s *Store) update(ctx context.Context, patient bool, fn func(store.Tx) error) error {
	u := s.queue.spare.Get().(*update)
	defer s.queue.spare.Put(u)
	u.ctx, u.patient, u.fn, u.err = ctx, patient, fn, nil
	if err := s.queue.push(u); err != nil {
		return err
	}
	<-u.done
	u.ctx, u.fn = nil, nil
	return u.err
}

// write is the writer: it commits batch after batch until the queue is closed.
func (s *Store) write() {
	defer close(s.closed)
	for batch, open := s.queue.gather(nil); open; batch, open = s.queue.gather(batch[:0]) {
		s.commit(batch)
		s.batchEnded()
		for i, u := range batch {
			u.done <- struct{}{}
			batch[i] = nil
		}
	}
	s.batchEnded()
}

// commit runs a batch in one bbolt transaction, notifies of what it changed, and
// sets each update's error. If the commit fails, they all fail: one's rejection
// may be due to another's lost write.
func (s *Store) commit(batch []*update) {
	t, err := s.commitBatch(batch)
	switch {
	case err == nil:
		s.notify(t)
	case len(batch) > 1 && boltfile.IsFull(err):
		s.commitEach(batch)
	default:
		for _, u := range batch {
			u.err = storageFault(err)
		}
	}
}

// commitEach commits each update of a batch that ran out of space on its own, so
// that one too large does not fail the rest.
func (s *Store) commitEach(batch []*update) {
	for i := range batch {
		s.commit(batch[i : i+1])
	}
}

func (s *Store) commitBatch(batch []*update) (t *tx, err error) {
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
	t = &tx{s: s, bolt: bolt}
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
	if err := recoverPanics(func(store.Tx) error { return t.writeCounts() }, t); err != nil {
		return nil, errors.Join(err, bolt.Rollback())
	}
	id := bolt.ID()
	s.file.BeforeCommit(began)
	if err = s.sync(bolt); err == nil {
		err = s.endIf(s.file.AfterCommit(began)) // after the sync: acknowledged writes are in the file at the path
	} else if s.file.AfterFailure(began, err) && s.life.Err() == nil {
		s.commitList(began)
	}
	s.watch.notify(store.Commit{Updates: written, Took: time.Since(began), Err: err})
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
func (s *Store) run(t *tx, u *update) (wrote bool, err error) {
	if u.err = u.ctx.Err(); u.err != nil {
		return false, nil
	}
	t.begin()
	defer s.reuseUndo(t)
	added, due, again, touched, retyped := len(s.keys.added), len(t.due), len(t.again), t.touched, t.retyped
	if u.err = recoverPanics(u.fn, t); t.unread {
		u.err = errUnread // whatever it made of that
	}
	if u.err != nil {
		s.keys.undo(added)
		t.due, t.again, t.touched, t.retyped = t.due[:due], t.again[:again], touched, retyped
		return false, t.rollback()
	}
	return t.dropped || len(t.undo) > 0 || len(s.counted) > t.countedBefore, nil
}

// maxUndo is the number of changes whose space is kept between updates.
const maxUndo = 1024

// reuseUndo keeps the space of a finished undo log for the next one.
func (s *Store) reuseUndo(t *tx) {
	if clear(t.undo); cap(t.undo) <= maxUndo {
		s.undo = t.undo
	}
	t.undo = nil
}

// recoverPanics turns a panic into an error, so that it reaches its caller and
// not the rest of the batch.
func recoverPanics(fn func(store.Tx) error, t *tx) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic in a transaction: %v\n%s", r, debug.Stack())
		}
	}()
	return fn(t)
}

// sync commits. If that fails although the new state is visible, it is unknown
// what a restart will find: from then on the store rejects every call.
func (s *Store) sync(bolt *bbolt.Tx) error {
	if err := s.beforeCommit(); err != nil {
		return errors.Join(err, bolt.Rollback())
	}
	id := bolt.ID()
	err := bolt.Commit()
	if err == nil {
		return nil
	}
	if r, rerr := s.db.Begin(false); rerr == nil {
		if r.ID() >= id {
			s.end(inDoubt(err))
		}
		r.Rollback()
	}
	return err
}

func (s *Store) beforeCommit() error {
	if s.before == nil {
		return nil
	}
	return s.before()
}

// notify reports what changed, in commit order and before the callers continue.
func (s *Store) notify(t *tx) {
	if t.touched {
		s.generation.Add(1)
	}
	if t.retyped {
		s.typeGeneration.Add(1)
	}
	s.note(t.again)
	onDue := s.onDue.Load()
	if onDue == nil {
		return
	}
	for _, d := range t.due {
		(*onDue)(d.endpoint, d.at)
	}
}
