// Package engine is what the engines of a store have in common while they run: the
// queue of Updates that share commits, the claims of deliveries, and who is told of a
// commit. It works in memory; the engine decides how data is kept.
package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// MaxGroup is the maximum number of Updates per commit: it bounds the memory of a
// commit and how long its callers wait for one another.
const MaxGroup = 1024

// MaxPatience is how long a patient Update waits for another to share its commit.
const MaxPatience = 20 * time.Millisecond

// gatherYields is how often the writer yields to other goroutines before it counts the
// gathered Updates again.
const gatherYields = 4

// ErrClosed is the cause of the errors of a closed store.
var ErrClosed = errors.New("the store is closed")

// Update is one Update on its way through a Queue. The writer sets Err.
type Update struct {
	Ctx   context.Context
	Scope store.Scope
	Fn    func(store.Tx) error
	Err   error
	done  chan struct{}
}

// Queue is where Updates wait for the writer.
type Queue struct {
	// Busy is set when the writer takes Updates. The engine may reset it once they
	// have ended.
	Busy atomic.Bool

	// Turns splits a group into those that are to be committed one after the other; nil:
	// it is committed as it is.
	Turns func(group []*Update) [][]*Update

	mu      sync.Mutex
	waiting []*Update
	closed  bool
	work    chan struct{} // has one token while Updates are to be taken
	patient *time.Timer   // puts the token there if only patient Updates wait
	spare   sync.Pool     // of *Update
	ended   chan struct{} // closed when the writer has ended
}

// NewQueue makes a Queue without a writer; Run is one.
func NewQueue() *Queue {
	q := &Queue{work: make(chan struct{}, 1), ended: make(chan struct{})}
	q.patient = time.AfterFunc(MaxPatience, q.patienceEnds)
	q.patient.Stop()
	q.spare.New = func() any { return &Update{done: make(chan struct{}, 1)} }
	return q
}

// Update has fn run by the writer, and waits until that has ended. Its error is the
// Update's, or unavailable: the Queue is closed.
func (q *Queue) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	u := q.spare.Get().(*Update)
	defer q.spare.Put(u)
	u.Ctx, u.Scope, u.Fn, u.Err = ctx, scope, fn, nil
	if err := q.push(u); err != nil {
		return err
	}
	<-u.done
	u.Ctx, u.Scope, u.Fn = nil, store.Scope{}, nil
	return u.Err
}

func (q *Queue) push(u *Update) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return store.Unavailable(ErrClosed)
	}
	q.waiting = append(q.waiting, u)
	switch {
	case !u.Scope.Patient:
		q.signal()
	case len(q.waiting) == 1: // otherwise it is signaled, or the timer runs
		q.patient.Reset(MaxPatience)
	}
	return nil
}

func (q *Queue) signal() {
	select {
	case q.work <- struct{}{}:
	default:
	}
}

func (q *Queue) patienceEnds() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 {
		q.signal()
	}
}

// Run is the writer: it takes what waits, as a group, has it committed, and wakes the
// callers, until the Queue is closed and empty.
func (q *Queue) Run(commit func(group []*Update)) {
	defer close(q.ended)
	for group := q.gather(nil); len(group) > 0; group = q.gather(group[:0]) {
		turns := [][]*Update{group}
		if q.Turns != nil {
			turns = q.Turns(group)
		}
		for _, turn := range turns {
			commit(turn)
			for i, u := range turn {
				u.done <- struct{}{}
				turn[i] = nil
			}
		}
		clear(group)
	}
}

// Refuse fails with err the Updates that wait for a commit of their own.
func (q *Queue) Refuse(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, u := range q.waiting {
		u.Err = err
		u.done <- struct{}{}
		q.waiting[i] = nil
	}
	q.waiting = q.waiting[:0]
	q.patient.Stop()
	if !q.closed { // a closed one's writer needs it to end
		q.unsignal()
	}
}

// Close rejects Updates from now on, and returns when the writer has ended.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.signal()
	q.mu.Unlock()
	<-q.ended
}

// gather waits for Updates and takes up to MaxGroup of them into group. It takes none
// once the Queue is closed and empty.
func (q *Queue) gather(group []*Update) []*Update {
	<-q.work
	q.Busy.Store(true)
	q.settle()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.patient.Stop()
	n := min(len(q.waiting), MaxGroup)
	group = append(group, q.waiting[:n]...)
	q.waiting = append(q.waiting[:0], q.waiting[n:]...)
	if len(q.waiting) > 0 || q.closed {
		q.signal()
	} else {
		q.unsignal() // what those brought that came while it settled
	}
	return group
}

// unsignal takes the token back.
func (q *Queue) unsignal() {
	select {
	case <-q.work:
	default:
	}
}

// settle yields to other goroutines as long as that brings more Updates, so that
// callers woken by one commit share the next. It uses no timer, so a lone caller does
// not wait.
func (q *Queue) settle() {
	for seen, n := 0, q.Len(); n > seen && n < MaxGroup; seen, n = n, q.Len() {
		for range gatherYields {
			runtime.Gosched()
		}
	}
}

// Len is the number of Updates that wait.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// Recover runs fn, and turns a panic into an error, so that it reaches its caller and
// not the rest of the group.
func Recover(fn func(store.Tx) error, tx store.Tx) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic in a transaction: %v\n%s", r, debug.Stack())
		}
	}()
	return fn(tx)
}
