package delivery_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"syscall"
	"time"

	"teamdata/store"
)

// disk decides which commits fail. The world's lock guards it.
type disk struct {
	rand      *rand.Rand
	fault     error
	faultEnds time.Time
	odds      float64 // that a commit fails until then
	dieAfter  int     // how many commits; 0 means that it runs on
	dead      bool
	died      chan struct{} // holds one token when it just did
	faults    int
}

var (
	errDead   = errors.New("the program was killed")
	errBroken = errors.New("a promise is broken: nothing goes on") // so that time passes, whatever loops
	never     = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
)

func newDisk(seed uint64) disk {
	return disk{rand: rand.New(rand.NewPCG(seed, 1)), died: make(chan struct{}, 1)}
}

// commit tells why a commit fails, if it does.
func (d *disk) commit() error {
	if d.dieAfter > 0 && !d.dead {
		if d.dieAfter--; d.dieAfter == 0 {
			d.dead = true
			d.died <- struct{}{}
		}
	}
	if d.dead {
		d.faults++
		return errDead
	}
	if time.Now().Before(d.faultEnds) && d.rand.Float64() < d.odds {
		d.faults++
		return d.fault
	}
	return nil
}

// revive makes it ready for the next process.
func (d *disk) revive() {
	d.dead, d.dieAfter = false, 0
	select {
	case <-d.died:
	default:
	}
}

// injectFault makes something fail, now and then.
func (w *world) injectFault() {
	switch n := w.IntN(100); {
	case n < 7:
		w.fillDisk()
	case n < 12:
		w.killSoon()
	case n < 15:
		w.burst() // whose updates are on their way
		w.yield()
		w.crash("the program is killed in the middle")
	case n < 18:
		w.burst()
		w.yield()
		w.stop(upTo(w.Rand, pick(w.Rand, []time.Duration{time.Nanosecond, time.Second, 20 * time.Second})))
	case n < 25:
		w.setClock(upTo(w.Rand, 18*time.Second) - 9*time.Second)
	case n < 30:
		w.setMail()
	}
}

// yield lets others run, but not to their end.
func (w *world) yield() {
	for range w.IntN(20) {
		runtime.Gosched()
	}
}

func (w *world) fillDisk() {
	d := upTo(w.Rand, pick(w.Rand, []time.Duration{200 * time.Millisecond, 3 * time.Second, 30 * time.Second, 2 * time.Minute}))
	fault := pick(w.Rand, []error{syscall.ENOSPC, syscall.ENOSPC, syscall.EIO})
	odds := pick(w.Rand, []float64{0.3, 0.7, 1})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sum.faults++
	w.disk.fault, w.disk.odds, w.disk.faultEnds = fault, odds, time.Now().Add(d)
	w.calmAt = latest(w.calmAt, w.disk.faultEnds.Add(hiccup))
	w.noteLocked("for %s commits fail with %q, %.0f%% of them", d, fault, 100*odds)
}

// hiccup is how long after a fault an outcome may wait until it is written again.
const hiccup = time.Second

func (w *world) killSoon() {
	n := 1 + w.IntN(12)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.disk.dieAfter = n
	w.noteLocked("commit %d from now will not come about: the program is killed", n)
}

func (w *world) setClock(ahead time.Duration) {
	w.skew.Store(int64(ahead))
	w.note("the store's clock is set to be %s ahead", ahead)
}

func (w *world) faults() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.disk.faults
}

// isCalm reports whether nothing is wrong, and nothing was a second ago.
func (w *world) isCalm() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.calmAt.After(time.Now())
}

// disturb begins a time in which nothing is sent.
func (w *world) disturb() { w.calmFrom(never) }

func (w *world) calmFrom(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calmAt = latest(at, w.disk.faultEnds.Add(hiccup))
}

// interleaving lets things happen between two steps of the program, where they
// would hardly ever happen by chance.
type interleaving struct {
	mu   sync.Mutex
	rand *rand.Rand
	on   bool // a process runs
	over bool // nothing is interleaved any more
}

func newInterleaving(seed uint64) interleaving {
	return interleaving{rand: rand.New(rand.NewPCG(seed, 2))}
}

// draw reports whether something is the case, once in n times.
func (h *interleaving) draw(n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.on && h.rand.IntN(n) == 0
}

func (h *interleaving) turn(on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.on = on
}

// delay delays a goroutine, once in n times, as a busy machine does.
func (h *interleaving) delay(n int) {
	if !h.draw(n) {
		return
	}
	h.mu.Lock()
	d := upTo(h.rand, 20*time.Millisecond)
	h.mu.Unlock()
	<-time.After(d)
}

// storeClock is the clock of the store. It is read when a transaction has begun
// and nothing is done yet: a good time to let others run. No time may pass, since
// the store can't be closed meanwhile.
func (w *world) storeClock() time.Time {
	if w.interleaving.draw(20) {
		for range 100 {
			runtime.Gosched()
		}
	}
	return w.clock()
}

// delayedClient is a store whose answers are delayed at times, when it has already
// done what was asked.
type delayedClient struct{ storeClient }

func (f delayedClient) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	defer f.w.interleaving.delay(12)
	return f.storeClient.Update(ctx, scope, fn)
}

func (f delayedClient) Claim(ctx context.Context, endpoint uint64, now time.Time, limit int) (store.Claims, error) {
	defer f.w.interleaving.delay(12)
	return f.storeClient.Claim(ctx, endpoint, now, limit)
}

// interleave lets an operator change a delivery or its endpoint while the outcome of
// an attempt is committed.
func (w *world) interleave(p *modelDelivery) {
	switch h := &w.interleaving; {
	case h.over:
	case h.draw(25):
		w.replayOne(p)
	case h.draw(50):
		w.replaySince(p.to, w.born)
	case h.draw(50):
		w.disable(p.to)
	case h.draw(50):
		w.enable(p.to)
	case h.draw(100):
		w.removeEndpoint(p.to)
	}
}
