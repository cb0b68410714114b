package delivery_test

import (
	"context"
	"math/rand/v2"
	"time"

	"teamdata/store"
)

// haste lets things happen between two steps of the dispatcher, where by chance
// they hardly ever would. The world's lock guards it.
type haste struct {
	rand *rand.Rand
	over bool
}

func newHaste(seed uint64) haste { return haste{rand: rand.New(rand.NewPCG(seed, 2))} }

// tardy is a store whose users are held up at times when it has done what they
// asked for, and they have not heard of that.
type tardy struct{ face }

func (f tardy) Update(ctx context.Context, fn func(store.Tx) error) error {
	defer f.w.holdUp()
	return f.face.Update(ctx, fn)
}

func (f tardy) Claim(ctx context.Context, endpoint uint64, now time.Time, limit int) (store.Claims, error) {
	defer f.w.holdUp()
	return f.face.Claim(ctx, endpoint, now, limit)
}

// holdUp holds a goroutine up at times, as a busy machine does.
func (w *world) holdUp() {
	w.mu.Lock()
	d := time.Duration(0)
	if w.haste.rand.IntN(12) == 0 {
		d = upTo(w.haste.rand, 20*time.Millisecond)
	}
	w.mu.Unlock()
	if d > 0 {
		<-time.After(d)
	}
}

// interfere lets somebody do something about a delivery while the outcome of an
// attempt is committed.
func (w *world) interfere(p *parcel) {
	if w.haste.over {
		return
	}
	switch r := w.haste.rand; r.IntN(50) {
	case 0, 1:
		w.replayOne(p)
	case 2:
		w.recoverSince(p.to, w.born)
	case 3:
		w.disable(p.to)
	case 4:
		w.enable(p.to)
	}
}
