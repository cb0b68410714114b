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
	})
}

// dropped holds one commit of a sweep to what may be dropped.
func (w *world) dropped(a *act, before time.Time) want {
	for _, id := range a.dropped {
		p := w.byID[id]
		if p == nil || p.waiting() || !p.finished.Before(before) {
			w.breaksLocked(arrival, "%s dropped %s, which is to be kept", a.who, id)
			continue
		}
		w.noteLocked("  %s is dropped", p.name)
		p.gone = true
		delete(w.byID, id)
	}
	for _, id := range a.unheard {
		for _, p := range w.byEvent[id] {
			if !p.gone {
				w.breaksLocked(arrival, "%s dropped the event of %s, which is there", a.who, p.name)
			}
		}
	}
	want := want{drops: true}
	for _, id := range a.sent {
		if l := w.mails[id]; l != nil && a.now.Sub(l.created) > mailKept {
			want.sent = append(want.sent, l)
		}
	}
	return want
}
