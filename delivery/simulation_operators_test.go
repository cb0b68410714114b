package delivery_test

import (
	"context"
	"time"

	"teamdata/store"
)

// operate lets somebody who looks after an org do something.
func (w *world) operate(o *org) {
	e := pick(w.Rand, o.endpoints)
	switch n := w.IntN(100); {
	case n < 15:
		w.disable(e)
	case n < 45:
		w.enable(e)
	case n < 65:
		w.replay(o)
	case n < 78:
		w.recoverSince(e, w.born.Add(upTo(w.Rand, time.Since(w.born)+1)))
	case n < 88:
		w.rotate(e)
	default:
		w.changePlan(o, pick(w.Rand, []string{"free", "team", "team"}))
	}
}

func (w *world) disable(e *endpoint) {
	f := w.as("disabling "+e.name, func(a *act) (want want) {
		if e.disabledBy != nil {
			return want
		}
		e.disabledBy = a
		want.endpoints, want.audits = []*endpoint{e}, []string{"endpoint.disabled " + e.id}
		return want
	})
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error { return store.DisableEndpoint(tx, "", e.orgID, e.id) })
	})
}

func (w *world) enable(e *endpoint) {
	f := w.as("enabling "+e.name, func(*act) (want want) {
		if e.disabledBy == nil {
			return want
		}
		e.disabledBy, e.enabledAt = nil, time.Now()
		want.endpoints, want.audits = []*endpoint{e}, []string{"endpoint.enabled " + e.id}
		return want
	})
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error { return store.EnableEndpoint(tx, "", e.orgID, e.id) })
	})
}

func (w *world) rotate(e *endpoint) {
	overlap := pick(w.Rand, []time.Duration{0, time.Hour, 24 * time.Hour})
	f := w.as("rotating the secret of "+e.name, func(a *act) (want want) {
		now := keys{by: a}
		if len(a.endpoints) == 1 {
			now.secret = a.endpoints[0].Secret
		}
		if before := e.keys[len(e.keys)-1]; overlap > 0 {
			now.old, now.oldUntil = before.secret, a.now.Add(overlap)
		}
		e.keys = append(e.keys, now)
		want.endpoints, want.audits = []*endpoint{e}, []string{"endpoint.secretRotated " + e.id}
		return want
	})
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error {
			_, err := store.RotateSecret(tx, "", e.orgID, e.id, "", overlap)
			return err
		})
	})
}

func (w *world) changePlan(o *org, plan string) {
	f := w.as("changing the plan of "+o.id+" to "+plan, func(*act) want {
		o.webhooks = plan != "free"
		return o.wanted("subscription.changed", plan)
	})
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error {
			return store.ChangeSubscription(tx, o.id, store.Subscription{Product: "p", Plan: plan, Interval: "year", Status: "active"})
		})
	})
}

// replay replays one of an org's deliveries, a late one rather than an early.
func (w *world) replay(o *org) {
	w.mu.Lock()
	p := pick(w.Rand, w.parcels[len(w.parcels)/2:])
	w.mu.Unlock()
	if p != nil {
		w.replayOne(p)
	}
}

func (w *world) replayOne(p *parcel) {
	f := w.as("replaying "+p.name, func(a *act) (want want) {
		if p.waiting() && !p.due.After(a.now) {
			return want
		}
		p.requeue(a.now)
		want.moved, want.audits = []*parcel{p}, []string{"delivery.replayed " + p.id}
		return want
	})
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error {
			_, err := store.Replay(tx, "", p.to.orgID, p.id)
			return err
		}, store.CodeNotFound)
	})
}
