package delivery_test

import (
	"context"
	"fmt"
	"time"

	"teamdata/store"
)

// recovery is a Recover on its way: what it must do to which deliveries.
type recovery struct {
	w     *world
	e     *endpoint
	since time.Time
	began time.Time
	now   time.Time // of the store, when it looked first
	done  int
}

// recoverSince queues again what an endpoint did not get since a time.
func (w *world) recoverSince(e *endpoint, since time.Time) {
	r := &recovery{w: w, e: e, since: since}
	f := lookout{w.as(fmt.Sprintf("recovering %s since %s", e.name, w.since(since)), r.expect), r}
	w.client(func(ctx context.Context) {
		r.began = time.Now()
		n, err := store.Recover(ctx, f, "", e.orgID, e.id, since)
		w.allow(f.who, err, store.CodeNotFound)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err != nil {
			return
		}
		if left := r.left(); len(left) > 0 {
			w.breaksLocked(arrival, "%s left %s out", f.who, parcelNames(left))
		}
		if n != r.done {
			w.breaksLocked(commits, "%s says that it recovered %d of %d", f.who, n, r.done)
		}
	})
}

// lookout is the store as a recovery sees it.
type lookout struct {
	face
	r *recovery
}

func (f lookout) View(ctx context.Context, fn func(store.Tx) error) error {
	return f.face.View(ctx, func(tx store.Tx) error {
		f.r.now = tx.Now()
		if e, err := tx.Endpoint(f.r.e.orgID, f.r.e.id); err == nil {
			f.w.mu.Lock()
			f.r.e = f.w.endpointByNumber(e.Number)
			f.w.mu.Unlock()
		}
		return fn(tx)
	})
}

// left is what it should have found, and nobody else has changed since it
// began.
func (r *recovery) left() (left []*parcel) {
	for _, p := range r.w.parcels {
		if r.means(p) && p.moved.Before(r.began) {
			left = append(left, p)
		}
	}
	return left
}

// means tells whether a delivery is to be queued again.
func (r *recovery) means(p *parcel) bool {
	switch {
	case p.to != r.e || p.gone || p.lastEnd.IsZero():
		return false
	case p.state == store.StateFailed:
		return !p.finished.Before(floorMs(r.since)) && !p.finished.After(r.now)
	}
	return p.waiting() && p.due.After(r.now) && !p.lastEnd.Before(r.since)
}

// expect is for one of its commits.
func (r *recovery) expect(a *act) (want want) {
	for _, d := range a.put {
		p := r.w.byID[d.ID]
		if p == nil || !r.means(p) {
			r.w.breaksLocked(schedule, "%s queues %s again, which it is not about", a.who, d.ID)
			continue
		}
		p.requeue(r.now)
		want.moved = append(want.moved, p)
	}
	if len(want.moved) > 0 && r.done == 0 {
		want.audits = []string{"endpoint.recovered " + r.e.id}
	}
	r.done += len(want.moved)
	return want
}
