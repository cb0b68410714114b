package server

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"teamdata/store"
)

// waitForDeliveries waits for the first delivery that is due, and returns nil if the wait is
// over, the client has gone or the server stops. What waits is many and costs its stack, which
// is small.
func (r *request) waitForDeliveries(p *pullRequest, endpoint uint64) (*store.Claims, error) {
	began := time.Now()
	defer func() { r.record.waited = time.Since(began) }()
	_ = http.NewResponseController(r.W).SetWriteDeadline(began.Add(p.wait + r.s.http.WriteTimeout))
	over := time.NewTimer(p.wait)
	defer over.Stop()
	w := r.s.pulls.join(endpoint)
	defer r.s.pulls.leave(w)
	for {
		touched := r.s.pulls.access() // before it is looked at
		claims, err := r.pullAgain(p, w)
		if err != nil || claims != nil {
			return claims, err
		}
		select {
		case <-w.wake:
		case <-touched:
		case <-over.C:
			return nil, nil
		case <-r.s.pulls.stopped:
			return nil, nil
		case <-r.HTTP.Context().Done():
			return nil, nil
		}
	}
}

// pullAgain pulls if the key may still do so, and otherwise says when it is worth it.
func (r *request) pullAgain(p *pullRequest, w *pullWaiter) (*store.Claims, error) {
	r.now = r.s.config.Now()
	if err := r.pass(stillMayPull); err != nil {
		return nil, err
	}
	claims, due, err := r.pull(p)
	if err == nil && claims == nil {
		r.s.pulls.looked(w, due.at)
	}
	return claims, err
}

// stillMayPull are the checks whose result may change while a request waits.
var stillMayPull = []func(*request) error{(*request).checkKey, (*request).checkPlan, (*request).checkScope}

// Due wakes a request that waits for deliveries of an endpoint, or with store.FirstPull of
// any, at a time; zero: now. It does not block.
func (s *Server) Due(endpoint uint64, at time.Time) { s.pulls.due(endpoint, at) }

// pullWaiters are the requests that wait for deliveries. Of those that wait at one endpoint
// one is told at a time, the first: it gets what is due, or passes on to the next what it
// left. So a delivery costs one look and not one for each who waits.
type pullWaiters struct {
	now     func() time.Time
	stopped chan struct{}

	mu       sync.Mutex
	lines    map[uint64]*pullLine
	touched  chan struct{} // closed when what keys may do has changed; then there is another
	touching bool          // it will be closed
}

// pullLine is those who wait at one endpoint, in the order in which they came.
type pullLine struct {
	waiters []*pullWaiter
	told    *pullWaiter // to look, and it has not said yet what it found; nil: nobody
	again   bool        // something became due since then
	at      time.Time   // when the timer has the first look; zero: it does not run
	timer   *time.Timer // nil: it never ran
}

// pullWaiter is one request.
type pullWaiter struct {
	endpoint uint64
	wake     chan struct{} // has a token when it is told to look
	looked   bool          // since it joined
}

func newPullWaiters(now func() time.Time) pullWaiters {
	return pullWaiters{now: now, stopped: make(chan struct{}), touched: make(chan struct{}), lines: map[uint64]*pullLine{}}
}

// stop ends all waits, for ever. It may be called again.
func (p *pullWaiters) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.stopped:
	default:
		close(p.stopped)
	}
}

// access is what is closed when what keys may do has changed after this.
func (p *pullWaiters) access() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.touched
}

// touchedWithin is how long a request may wait after its key has lost its access. Members
// come in hundreds, and each change would make all who wait look.
const touchedWithin = 500 * time.Millisecond

// touch makes all who wait look whether they still may. It does not block.
func (p *pullWaiters) touch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.touching || len(p.lines) == 0 {
		return
	}
	p.touching = true
	time.AfterFunc(touchedWithin, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		close(p.touched)
		p.touched, p.touching = make(chan struct{}), false
	})
}

// join adds a waiter, which then has to look: what became due before told nobody.
func (p *pullWaiters) join(endpoint uint64) *pullWaiter {
	w := &pullWaiter{endpoint: endpoint, wake: make(chan struct{}, 1)}
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lines[endpoint]
	if l == nil {
		l = &pullLine{}
		p.lines[endpoint] = l
	}
	l.waiters = append(l.waiters, w)
	return w
}

// leave removes a waiter. If it was told to look, the next one is.
func (p *pullWaiters) leave(w *pullWaiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lines[w.endpoint]
	i := slices.Index(l.waiters, w)
	l.waiters = slices.Delete(l.waiters, i, i+1)
	if len(l.waiters) == 0 {
		if l.timer != nil {
			l.timer.Stop()
		}
		delete(p.lines, w.endpoint)
		return
	}
	if l.told == w {
		l.told = nil
		l.tell()
	}
}

// looked takes it that a waiter found nothing, and when something is due; zero: never.
func (p *pullWaiters) looked(w *pullWaiter, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lines[w.endpoint]
	w.looked = true
	if l.told == w && len(w.wake) == 0 { // else it was told meanwhile, and is yet to look
		if l.told = nil; l.again {
			l.tell()
		}
	}
	if !at.IsZero() {
		p.arm(w.endpoint, l, at)
	}
}

// due tells the first who waits at an endpoint, or with store.FirstPull at each, at a time.
func (p *pullWaiters) due(endpoint uint64, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lines) == 0 {
		return
	}
	if endpoint != store.FirstPull {
		if l := p.lines[endpoint]; l != nil {
			p.arm(endpoint, l, at)
		}
		return
	}
	for endpoint, l := range p.lines {
		p.arm(endpoint, l, at)
	}
}

// tell tells the first of a line to look, now or once the one who looks is done.
func (l *pullLine) tell() {
	if l.told != nil {
		l.again = true
		return
	}
	l.told, l.again = l.waiters[0], false
	select {
	case l.told.wake <- struct{}{}:
	default:
	}
}

// lookEvery is the longest sleep until a wall-clock time. Timers don't notice that the clock
// was set or the machine suspended.
const lookEvery = 30 * time.Second

// arm tells a line at a time, unless it is told earlier; zero: now.
func (p *pullWaiters) arm(endpoint uint64, l *pullLine, at time.Time) {
	now := p.now()
	switch {
	case !at.After(now):
		l.tell()
		return
	case !l.at.IsZero() && !at.Before(l.at):
		return
	}
	l.at = at
	after := min(at.Sub(now), lookEvery)
	if l.timer == nil {
		l.timer = time.AfterFunc(after, func() { p.ring(endpoint, l) })
	} else {
		l.timer.Reset(after)
	}
}

// ring is called by the timer of a line.
func (p *pullWaiters) ring(endpoint uint64, l *pullLine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := l.at; p.lines[endpoint] == l && !at.IsZero() {
		l.at = time.Time{}
		p.arm(endpoint, l, at)
	}
}
