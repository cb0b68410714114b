package pgstore

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"teamdata/store"
)

// maxGroup is the maximum number of Updates per commit: it bounds the memory of a
// commit and how long its callers wait for one another.
const maxGroup = 1024

// maxPatience is how long a patient update waits for another to share its commit.
const maxPatience = 20 * time.Millisecond

// gatherYields is how often the writer yields to other goroutines before it
// counts the gathered updates again.
const gatherYields = 4

// update is one Update passing through the writer.
type update struct {
	ctx   context.Context
	scope store.Scope
	fn    func(store.Tx) error
	err   error
	done  chan struct{}
}

// queue is where updates wait for the writer.
type queue struct {
	mu      sync.Mutex
	waiting []*update
	closed  bool
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
		return store.Unavailable(errClosed)
	}
	q.waiting = append(q.waiting, u)
	switch {
	case !u.scope.Patient:
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

// gather waits for updates and takes up to maxGroup of them into group; open is
// false once the queue is closed and empty.
func (q *queue) gather(group []*update) (_ []*update, open bool) {
	<-q.work
	q.settle()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.patient.Stop()
	n := min(len(q.waiting), maxGroup)
	group = append(group, q.waiting[:n]...)
	q.waiting = append(q.waiting[:0], q.waiting[n:]...)
	if len(q.waiting) > 0 || q.closed {
		q.signal()
	}
	return group, n > 0 || !q.closed
}

// refuse ends what waits with an error.
func (q *queue) refuse(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, u := range q.waiting {
		u.err = err
		u.done <- struct{}{}
		q.waiting[i] = nil
	}
	q.waiting = q.waiting[:0]
}

// settle yields to other goroutines as long as that brings more updates, so that
// callers woken by one commit share the next. It uses no timer, so a lone caller
// does not wait.
func (q *queue) settle() {
	for seen, n := 0, q.len(); n > seen && n < maxGroup; seen, n = n, q.len() {
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
	u := s.queue.spare.Get().(*update)
	defer s.queue.spare.Put(u)
	u.ctx, u.scope, u.fn, u.err = ctx, scope, fn, nil
	if err := s.queue.push(u); err != nil {
		return err
	}
	<-u.done
	u.ctx, u.scope, u.fn = nil, store.Scope{}, nil
	return u.err
}

// write is the writer: it commits group after group until the queue is closed.
func (s *Store) write() {
	defer close(s.closed)
	for group, open := s.queue.gather(nil); open; group, open = s.queue.gather(group[:0]) {
		if len(group) > 0 { // they may have been refused
			s.commit(group)
		}
		for i, u := range group {
			u.done <- struct{}{}
			group[i] = nil
		}
	}
}
