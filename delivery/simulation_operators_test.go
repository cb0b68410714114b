package delivery_test

import (
	"context"
	"fmt"
	"time"

	"teamdata/store"
)

// operate lets an org's manager do something.
func (w *world) operate(o *org) {
	e := w.anEndpoint(o)
	switch n := w.IntN(100); {
	case n < 12:
		w.disable(e)
	case n < 36:
		w.enable(e)
	case n < 52:
		w.replay(o)
	case n < 62:
		w.recoverSince(e, w.born.Add(upTo(w.Rand, time.Since(w.born)+1)))
	case n < 69:
		w.rotate(e)
	case n < 76:
		w.moveEndpoint(e)
	case n < 81:
		w.removeEndpoint(e)
	case n < 88:
		w.makeEndpoint(o)
	case n < 94:
		w.changeMember(o)
	default:
		w.changePlan(o, pick(w.Rand, []string{"free", "team", "team"}))
	}
}

func (w *world) disable(e *endpoint) {
	f := w.as("disabling "+e.name, func(a *transaction) (want want) {
		e := w.now(e)
		if e.disabledBy != nil {
			return want
		}
		e.disabledBy = a
		want.endpoints, want.audits = []*endpoint{e}, []string{"endpoint.disabled " + e.id}
		return want
	})
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error { return store.DisableEndpoint(tx, "", e.orgID, e.id) }, store.CodeNotFound)
	})
}

func (w *world) enable(e *endpoint) {
	f := w.as("enabling "+e.name, func(*transaction) (want want) {
		e := w.now(e)
		if e.disabledBy == nil {
			return want
		}
		e.disabledBy, e.enabledAt = nil, time.Now()
		want.endpoints, want.audits = []*endpoint{e}, []string{"endpoint.enabled " + e.id}
		return want
	})
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error { return store.EnableEndpoint(tx, "", e.orgID, e.id) }, store.CodeNotFound)
	})
}

func (w *world) rotate(e *endpoint) {
	overlap := pick(w.Rand, []time.Duration{0, time.Hour, 24 * time.Hour})
	f := w.as("rotating the secret of "+e.name, func(a *transaction) (want want) {
		e := w.now(e)
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
		}, store.CodeNotFound)
	})
}

func (w *world) changePlan(o *org, plan string) {
	f := w.as("changing the plan of "+o.id+" to "+plan, func(*transaction) want {
		if o.plan == plan {
			return want{}
		}
		o.plan = plan
		want := o.wanted("subscription.changed", plan)
		want.audits = []string{"subscription.changed"}
		return want
	})
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error {
			_, err := store.ChangeSubscription(tx, "", o.id, store.Subscription{Product: "p", Plan: plan, Interval: "year", Status: "active"})
			return err
		})
	})
}

// changeMember gives a member another role or address, or those that they have.
func (w *world) changeMember(o *org) {
	user := w.someMember(o)
	if user == "" {
		return
	}
	role, address := pick(w.Rand, []string{store.RoleMember, store.RoleAdmin}), pick(w.Rand, []string{"", user + "@new.example"})
	f := w.as("making the member "+user+" a "+role+" at "+address, func(*transaction) (want want) {
		p := o.people[user]
		if *p == (person{role, address}) {
			return want
		}
		want = o.wanted("member.changed", user)
		if want.audits = []string{"member.changed"}; p.role != role {
			want.audits = []string{"member.roleChanged"}
		}
		*p = person{role, address}
		return want
	})
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error {
			_, err := store.ChangeMember(tx, "", o.id, user, store.MemberChange{Role: &role, Email: &address})
			return err
		}, store.CodeNotFound)
	})
}

// replay replays one of an org's deliveries, a late one rather than an early.
func (w *world) replay(o *org) {
	w.mu.Lock()
	p := pick(w.Rand, w.deliveries[len(w.deliveries)/2:])
	w.mu.Unlock()
	if p != nil {
		w.replayOne(p)
	}
}

func (w *world) replayOne(p *modelDelivery) {
	f := w.as("replaying "+p.name, func(a *transaction) (want want) {
		if p.waiting() && !p.due.After(a.now) {
			return want
		}
		p.requeue(a.now)
		want.moved, want.audits = []*modelDelivery{p}, []string{"delivery.replayed " + p.id}
		return want
	})
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error {
			_, err := store.Replay(tx, "", p.to.orgID, p.id)
			return err
		}, store.CodeNotFound)
	})
}

// recovery is a Recover that runs: which deliveries it must queue again.
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
	f := recoveryClient{w.as(fmt.Sprintf("recovering %s since %s", e.name, w.since(since)), r.expect), r}
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
			w.breaksLocked(arrival, "%s left %s out", f.who, deliveryNames(left))
		}
		if n != r.done {
			w.breaksLocked(commits, "%s says that it recovered %d of %d", f.who, n, r.done)
		}
	})
}

// recoveryClient is the store as a recovery sees it.
type recoveryClient struct {
	storeClient
	r *recovery
}

func (f recoveryClient) View(ctx context.Context, fn func(store.Tx) error) error {
	return f.storeClient.View(ctx, func(tx store.Tx) error {
		f.r.now = tx.Now()
		if e, err := tx.Endpoint(f.r.e.orgID, f.r.e.id); err == nil {
			f.w.mu.Lock()
			f.r.e = f.w.endpointByNumber(e.Number)
			f.w.mu.Unlock()
		}
		return fn(tx)
	})
}

// left are the deliveries that it should have queued, and that nothing else has
// changed since it began.
func (r *recovery) left() (left []*modelDelivery) {
	for _, p := range r.w.deliveries {
		if r.covers(p) && p.moved.Before(r.began) {
			left = append(left, p)
		}
	}
	return left
}

// covers reports whether a delivery is to be queued again.
func (r *recovery) covers(p *modelDelivery) bool {
	switch {
	case p.to != r.e || p.gone || p.lastEnd.IsZero():
		return false
	case p.state == store.StateFailed:
		return !p.finished.Before(floorMs(r.since)) && !p.finished.After(r.now)
	}
	return p.waiting() && p.due.After(r.now) && !p.lastEnd.Before(r.since)
}

// expect says what one of its commits must write.
func (r *recovery) expect(a *transaction) (want want) {
	for _, d := range a.put {
		p := r.w.byID[d.ID]
		if p == nil || !r.covers(p) {
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
