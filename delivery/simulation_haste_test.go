package delivery_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"teamdata/store"
)

// haste lets things happen between two steps of the program, where by chance they
// hardly ever would.
type haste struct {
	mu   sync.Mutex
	rand *rand.Rand
	on   bool // a process runs
	over bool // nobody interferes any more
}

func newHaste(seed uint64) haste { return haste{rand: rand.New(rand.NewPCG(seed, 2))} }

// draw tells whether something is the case, once in n times.
func (h *haste) draw(n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.on && h.rand.IntN(n) == 0
}

func (h *haste) turn(on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.on = on
}

// holdUp holds a goroutine up, once in n times, as a busy machine does.
func (h *haste) holdUp(n int) {
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
	if w.haste.draw(20) {
		for range 100 {
			runtime.Gosched()
		}
	}
	return w.clock()
}

// tardy is a store whose users are held up at times when it has done what they
// asked for, and they have not heard of that.
type tardy struct{ face }

func (f tardy) Update(ctx context.Context, fn func(store.Tx) error) error {
	defer f.w.haste.holdUp(12)
	return f.face.Update(ctx, fn)
}

func (f tardy) Claim(ctx context.Context, endpoint uint64, now time.Time, limit int) (store.Claims, error) {
	defer f.w.haste.holdUp(12)
	return f.face.Claim(ctx, endpoint, now, limit)
}

// interfere lets somebody do something about a delivery while the outcome of an
// attempt is committed.
func (w *world) interfere(p *parcel) {
	switch h := &w.haste; {
	case h.over:
	case h.draw(25):
		w.replayOne(p)
	case h.draw(50):
		w.recoverSince(p.to, w.born)
	case h.draw(50):
		w.disable(p.to)
	case h.draw(50):
		w.enable(p.to)
	case h.draw(100):
		w.removeEndpoint(p.to)
	}
}
