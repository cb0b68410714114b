package delivery_test

import (
	"context"
	"time"

	"teamdata/store"
)

// sweep drops what is kept no longer.
func (w *world) sweep() {
	f := w.as("the sweep", func(a *act) want { return w.dropped(a, a.now.Add(-w.retention)) })
	w.client(func(ctx context.Context) {
		began, before := time.Now(), floorMs(w.clock()).Add(-w.retention) // what finished before then must go
		err := store.Sweep(ctx, f, w.retention)
		w.allow(f.who, err)
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, p := range w.parcels {
			if err == nil && !p.gone && !p.waiting() && p.finished.Before(before) && p.moved.Before(began) {
				w.breaksLocked(arrival, "the sweep left %s, which finished %s before", p.name, before.Sub(p.finished))
			}
		}
		for _, e := range w.endpoints {
			if err == nil && !e.forgotten && e.removedBefore(began) {
				w.breaksLocked(commits, "the sweep left something of %s, which was removed before", e.name)
			}
		}
	})
}

// dropped holds one commit of a sweep to what may be dropped.
func (w *world) dropped(a *act, before time.Time) want {
	for _, id := range a.dropped {
		p := w.byID[id]
		if p == nil || p.gone || p.to.removedBy == nil && (p.waiting() || !p.finished.Before(before)) {
			w.breaksLocked(arrival, "%s dropped %s, which is to be kept", a.who, id)
			continue
		}
		w.noteLocked("  %s is dropped", p.name)
		p.gone = true
	}
	for _, id := range a.unheard {
		for _, p := range w.byEvent[id] {
			if !p.gone {
				w.breaksLocked(arrival, "%s dropped the event of %s, which is there", a.who, p.name)
			}
		}
	}
	w.forgotten(a)
	want := want{drops: true}
	for _, id := range a.sent {
		if l := w.mails[id]; l != nil && a.now.Sub(l.created) > mailKept {
			want.sent = append(want.sent, l)
		}
	}
	return want
}

// forgotten holds the endpoints that a commit of a sweep forgets to being removed,
// and without a delivery.
func (w *world) forgotten(a *act) {
	for _, number := range a.forgotten {
		e := w.endpointByNumber(number)
		if e == nil || e.removedBy == nil || e.forgotten {
			w.breaksLocked(commits, "%s forgets the endpoint %d, which is not a removed one", a.who, number)
			continue
		}
		e.forgotten = true
		for _, p := range w.parcels {
			if p.to == e && !p.gone {
				w.breaksLocked(commits, "%s forgets %s, and %s is there", a.who, e.name, p.name)
			}
		}
	}
}
