package delivery_test

import (
	"context"
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
		w.replaySince(e, w.born.Add(upTo(w.Rand, time.Since(w.born)+1)))
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
		if p.waiting() && !p.due.After(a.now) || p.state == store.StateLeased {
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
