package engine

import (
	"sync/atomic"
	"time"

	"teamdata/store"
)

// Watch is the monitoring data of an engine. The zero value is ready to use.
type Watch struct {
	onCommit  atomic.Pointer[func(store.Commit)]
	committed atomic.Int64 // unix nanoseconds of the last commit; 0: none, or it failed
	refused   atomic.Pointer[refusal]
	probes    atomic.Int64 // those that run

	// The open Views, by when they began in unix nanoseconds; 0 is a free place. Views
	// beyond the places run uncounted.
	next  atomic.Uint32
	began [256]atomic.Int64
}

// OnCommit sets fn to be called by the writer.
func (w *Watch) OnCommit(fn func(store.Commit)) { w.onCommit.Store(&fn) }

// LastCommit is that of this process.
func (w *Watch) LastCommit() time.Time {
	if ns := w.committed.Load(); ns != 0 {
		return time.Unix(0, ns)
	}
	return time.Time{}
}

// refusal is the failure of the last commit that was more than a probe.
type refusal struct {
	at  time.Time
	err error
}

// failingFor is how long a refusal counts while nothing else is tried: nobody may try
// while it does.
const failingFor = 10 * time.Second

// Failing is as the contract has it.
func (w *Watch) Failing() error {
	if r := w.refused.Load(); r != nil && time.Since(r.at) < failingFor {
		return r.err
	}
	return nil
}

// Refusal is why the last commit that was more than a probe was refused, however long ago;
// nil: it was not.
func (w *Watch) Refusal() error {
	if r := w.refused.Load(); r != nil {
		return r.err
	}
	return nil
}

// Refused records a commit whose failure, if it did fail, tells of those to come.
func (w *Watch) Refused(c store.Commit) {
	if c.Err != nil && w.beyondProbes(c) {
		w.refused.Store(&refusal{time.Now(), c.Err})
	}
}

func (w *Watch) beyondProbes(c store.Commit) bool { return int64(c.Updates) > w.probes.Load() }

// Probing runs a probe, which says nothing of what was refused.
func (w *Watch) Probing(commit func() error) error {
	w.probes.Add(1)
	defer w.probes.Add(-1)
	return commit()
}

// Committed records when a commit ended and calls OnCommit's function.
func (w *Watch) Committed(c store.Commit) {
	if w.committed.Store(time.Now().UnixNano()); c.Err != nil {
		w.committed.Store(0)
	} else if w.beyondProbes(c) {
		w.refused.Store(nil)
	}
	if fn := w.onCommit.Load(); fn != nil {
		(*fn)(c)
	}
}

// EnterView takes a place for a View, which is free again once it is 0.
func (w *Watch) EnterView() (place *atomic.Int64) {
	now := time.Now().UnixNano()
	first := w.next.Add(1)
	for i := range uint32(len(w.began)) {
		place := &w.began[(first+i)%uint32(len(w.began))]
		if place.CompareAndSwap(0, now) {
			return place
		}
	}
	return new(atomic.Int64)
}

// OpenViews counts the open Views.
func (w *Watch) OpenViews() (n int, oldest time.Duration) {
	now := time.Now().UnixNano()
	for i := range w.began {
		if began := w.began[i].Load(); began != 0 {
			n++
			oldest = max(oldest, time.Duration(now-began))
		}
	}
	return n, oldest
}
