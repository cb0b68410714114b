package delivery_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

// consumers pull from endpoints that nothing is sent to. What they know is in the books of
// each delivery: when they were handed it. An answer may be lost, and a consumer may crash
// with what it has; both cost a repeated delivery, once the lease has ended.

// hand is one time that a delivery reached a consumer.
type hand struct{ lease string }

// leased is what the model knows of a delivery's lease.
type leased struct {
	id             string
	granted, until time.Time // by the store's clock
}

// aConsumer lets a consumer do something.
func (w *world) aConsumer(o *org) {
	e := w.anEndpoint(o)
	w.mu.Lock()
	if pulled := slices.DeleteFunc(slices.Clone(o.endpoints), func(e *endpoint) bool { return !e.pull }); len(pulled) > 0 {
		e = pick(w.Rand, pulled)
	}
	w.mu.Unlock()
	switch n := w.IntN(100); {
	case n < 55:
		w.pull(e, 1+w.IntN(6), pick(w.Rand, []time.Duration{store.MinLease, store.DefaultLease, store.MaxLease}), w.had(e, 4), w.IntN(5) == 0)
	case n < 75:
		w.acknowledge(e, w.had(e, 5))
	case n < 88:
		w.giveBack(e, w.had(e, 2))
	default:
		w.extend(e, w.had(e, 2), pick(w.Rand, []time.Duration{store.MinLease, store.MaxLease}))
	}
}

// had are up to some deliveries of an endpoint that consumers were handed.
func (w *world) had(e *endpoint, most int) (some []*modelDelivery) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.deliveries {
		if p.to.pull && p.to.orgID == e.orgID && p.to.id == e.id && len(p.hands) > 0 && len(some) < most && w.IntN(3) > 0 && (!p.ackKnown || w.IntN(20) == 0) {
			some = append(some, p)
		}
	}
	return some
}

// consumerKey is that of all consumers of an org.
func consumerKey(org string) *store.APIKey {
	return &store.APIKey{ID: "key_1", OrgID: org, Scopes: store.ScopeReceive}
}

// refusals are what a consumer may be told of an endpoint that is disabled, was removed, or
// has become another one, and of deliveries that were dropped or taken over.
var refusals = []store.Code{store.CodeNotFound, store.CodeConflict, store.CodeBadRequest}

func idsOf(some []*modelDelivery) (ids []string) {
	for _, p := range some {
		ids = append(ids, p.id)
	}
	return ids
}

// pull acknowledges deliveries and pulls others; the answer may be lost.
func (w *world) pull(e *endpoint, limit int, lasts time.Duration, acked []*modelDelivery, lost bool) {
	f := w.as("a pull from "+e.name, func(a *transaction) want { return w.pulled(a, w.now(e), limit, lasts, acked) })
	r := store.PullRequest{Key: consumerKey(e.orgID), Ack: idsOf(acked), Limit: limit, Lease: lasts}
	w.client(func(ctx context.Context) {
		var got store.Claims
		err := f.Update(ctx, store.Scope{Orgs: []string{e.orgID}, Deliveries: r.Ack}, func(tx store.Tx) (err error) {
			got, err = store.Pull(tx, e.id, r)
			return err
		})
		w.allow(f.who, err, refusals...)
		if err != nil {
			return
		}
		w.hands(f.who, got.Claims, lost)
		if !lost {
			w.knows(acked)
		}
	})
}

// knows notes that the consumer was told that deliveries are acknowledged.
func (w *world) knows(acked []*modelDelivery) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range acked {
		p.ackKnown = true
	}
}

// hands enters in the books what a pull answered.
func (w *world) hands(who string, claims []store.Claim, lost bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range claims {
		p := w.byID[c.Delivery.ID]
		if p == nil || p.body != string(c.Body) {
			w.breaksLocked(arrival, "%s got %s with the body %q", who, c.Delivery.ID, c.Body)
			return
		}
		if !lost {
			p.hands = append(p.hands, hand{c.Delivery.Lease().ID})
			p.ackKnown = false // it was replayed, or never acknowledged
		}
		w.noteLocked("%s got %s (lost: %t)", who, p.name, lost)
	}
}

// pullable are what a pull finds at a time, in their order.
func (w *world) pullable(e *endpoint, now time.Time) (found []*modelDelivery) {
	for _, p := range w.deliveries {
		if p.to == e && !p.gone && p.readyAt(now) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b *modelDelivery) int { return cmp.Or(a.due.Compare(b.due), strings.Compare(a.id, b.id)) })
	return found
}

// readyAt reports whether it may be handed out at a time.
func (p *modelDelivery) readyAt(now time.Time) bool {
	switch {
	case p.state == store.StateLeased:
		return p.leaseEnded(now)
	case !p.waiting():
		return false
	}
	return p.made == 0 || !p.due.After(floorMs(now))
}

func (p *modelDelivery) leaseEnded(now time.Time) bool {
	return !p.lease.until.After(floorMs(now)) || p.lease.until.After(floorMs(now.Add(store.MaxLease+time.Minute)))
}

// pulled is what a pull means.
func (w *world) pulled(a *transaction, e *endpoint, limit int, lasts time.Duration, acked []*modelDelivery) (want want) {
	want.moved = w.taken(a, acked)
	for _, p := range w.pullable(e, a.now) {
		ended := p.state == store.StateLeased
		if ended {
			p.endLease(a.now)
		}
		if limit > 0 {
			if p.ackKnown && !p.replayed {
				w.breaksLocked(duplicates, "%s gets %s, which the consumer knows to be acknowledged", a.who, p.name)
			}
			limit--
			p.state, p.lease = store.StateLeased, leased{leaseIn(a, p), floorMs(a.now), floorMs(a.now.Add(lasts))}
			ended = true
		}
		if ended {
			want.moved = append(want.moved, p)
		}
	}
	return want
}

// leaseIn is the id of the lease that a commit gives a delivery.
func leaseIn(a *transaction, p *modelDelivery) string {
	for i := range a.put {
		if a.put[i].ID == p.id {
			return a.put[i].Lease().ID
		}
	}
	return ""
}

// endLease is what the end of a lease means.
func (p *modelDelivery) endLease(now time.Time) {
	p.lastStart, p.lastEnd = p.lease.granted, p.lease.until
	if floorMs(now).Before(p.due) {
		p.due = floorMs(now)
	}
	p.state, p.lease = store.StateRetrying, leased{}
	p.made++
}

// attempt is what an outcome means that a consumer told.
func (p *modelDelivery) attempt(now time.Time) {
	switch {
	case p.state == store.StateLeased:
		p.lastStart = p.lease.granted
	case p.made == 0:
		now = floorMs(now)
		p.lastStart = now
	}
	if p.first.IsZero() {
		p.first = p.lastStart
	}
	p.lease, p.lastEnd = leased{}, p.lastStart.Add(max(now.Sub(p.lastStart).Truncate(time.Microsecond), 0))
	p.attempts++
	p.made++
}

// taken is what acknowledging deliveries means.
func (w *world) taken(a *transaction, acked []*modelDelivery) (moved []*modelDelivery) {
	for _, p := range acked {
		if p.state == store.StateAcknowledged {
			continue
		}
		p.attempt(a.now)
		p.state, p.finished, p.replayed = store.StateAcknowledged, floorMs(a.now), false
		p.to.lastAcked = latest(p.to.lastAcked, p.finished)
		moved = append(moved, p)
	}
	return moved
}

func (w *world) acknowledge(e *endpoint, some []*modelDelivery) {
	if len(some) == 0 {
		return
	}
	lost := w.IntN(5) == 0
	f := w.as("an acknowledgment of "+deliveryNames(some), func(a *transaction) want { return want{moved: w.taken(a, some)} })
	w.client(func(ctx context.Context) {
		err := f.Update(ctx, store.Scope{Orgs: []string{e.orgID}, Deliveries: idsOf(some)}, func(tx store.Tx) error {
			return store.AckDeliveries(tx, consumerKey(e.orgID), e.id, idsOf(some))
		})
		if w.allow(f.who, err, refusals...); err == nil && !lost {
			w.knows(some)
		}
	})
}

// leasesOf are those that the consumer was handed last.
func (w *world) leasesOf(some []*modelDelivery) (of []store.LeaseOf) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range some {
		of = append(of, store.LeaseOf{DeliveryID: p.id, Lease: p.hands[len(p.hands)-1].lease})
	}
	return of
}

// holds checks that a consumer that gives back or extends has the current leases.
func (w *world) holds(a *transaction, some []*modelDelivery, of []store.LeaseOf) {
	for i, p := range some {
		if p.state != store.StateLeased || p.lease.id != of[i].Lease || !floorMs(a.now).Before(p.lease.until) {
			w.breaksLocked(duplicates, "%s is done with a lease of %s that has ended at %s", a.who, p.name, w.since(p.lease.until))
		}
	}
}

func (w *world) giveBack(e *endpoint, some []*modelDelivery) {
	if len(some) == 0 {
		return
	}
	of := w.leasesOf(some)
	var delay *time.Duration
	if w.IntN(2) == 0 {
		d := pick(w.Rand, []time.Duration{0, time.Minute, time.Hour})
		delay = &d
	}
	schedule := store.DefaultRetrySchedule
	f := w.as("giving back "+deliveryNames(some), func(a *transaction) want {
		w.holds(a, some, of)
		for _, p := range some {
			p.attempt(a.now)
			switch {
			case p.attempts > len(schedule):
				p.state, p.finished = store.StateFailed, floorMs(a.now)
			case delay != nil:
				p.state, p.due = store.StateRetrying, ceilMs(a.now.Add(*delay))
			default:
				p.state, p.due = store.StateRetrying, ceilMs(a.now.Add(schedule[p.attempts-1]))
			}
		}
		return want{moved: some}
	})
	w.client(func(ctx context.Context) {
		w.allow(f.who, f.Update(ctx, store.InOrg(e.orgID), func(tx store.Tx) error {
			return store.NackDeliveries(tx, consumerKey(e.orgID), e.id, of, "not now", delay, schedule)
		}), refusals...)
	})
}

func (w *world) extend(e *endpoint, some []*modelDelivery, lasts time.Duration) {
	if len(some) == 0 {
		return
	}
	of := w.leasesOf(some)
	f := w.as(fmt.Sprint("extending ", deliveryNames(some), " by ", lasts), func(a *transaction) want {
		w.holds(a, some, of)
		for _, p := range some {
			p.lease.until = floorMs(a.now.Add(lasts))
		}
		return want{moved: some}
	})
	w.client(func(ctx context.Context) {
		w.allow(f.who, f.Update(ctx, store.InOrg(e.orgID), func(tx store.Tx) error {
			_, err := store.ExtendLeases(tx, consumerKey(e.orgID), e.id, of, lasts)
			return err
		}), refusals...)
	})
}

// leasesEnd is what a sweep means for those whose leases have ended.
func (w *world) leasesEnd(a *transaction) (moved []*modelDelivery) {
	for i := range a.put {
		p := w.byID[a.put[i].ID]
		if p == nil || p.state != store.StateLeased || !p.leaseEnded(a.now) {
			w.breaksLocked(schedule, "%s changes %s, which is not leased and left", a.who, a.put[i].ID)
			continue
		}
		p.endLease(a.now)
		moved = append(moved, p)
	}
	return moved
}

// notPulled checks that mail of a sweep is about an endpoint that nobody pulls from, and
// returns whom it goes to.
func (w *world) notPulled(a *transaction) (to []string) {
	if len(a.mails) == 0 {
		return nil
	}
	e := w.endpointOf(a.mails[0].OrgID, a.mails[0].Values["endpointId"])
	late := func(p *modelDelivery) bool {
		return p.to == e && !p.gone && p.waiting() && a.now.Sub(p.due) >= 13*time.Hour
	}
	warned := e != nil && !e.warned.IsZero() && !e.lastAcked.After(e.warned)
	if e == nil || !e.pull || e.disabledBy != nil || warned || !slices.ContainsFunc(w.deliveries, late) {
		w.breaksLocked(disabling, "%s mails that nobody pulls from %q", a.who, a.mails[0].Values["endpointId"])
		return nil
	}
	e.warned = floorMs(a.now)
	return w.org(e.orgID).addresses()
}

// drain pulls and acknowledges all that is left, in rounds, until all was handed out.
func (w *world) drain() {
	for range 20 {
		left, next := 0, time.Time{}
		w.mu.Lock()
		var all []*endpoint
		for _, e := range w.endpoints {
			if e.pull && e.removedBy == nil {
				all = append(all, e)
			}
		}
		w.mu.Unlock()
		for _, e := range all {
			w.pull(e, 100, store.MinLease, w.unacknowledged(e), false)
		}
		w.clients.Wait()
		w.mu.Lock()
		for _, p := range w.deliveries {
			if p.gone || !p.to.pull || p.to.removedBy != nil || p.state == store.StateAcknowledged || p.state == store.StateFailed {
				continue
			}
			left++
			next = latest(next, p.due, p.lease.until)
		}
		w.mu.Unlock()
		if left == 0 || w.isBroken() {
			return
		}
		w.rest(latest(next, w.clock().Add(store.MinLease)).Sub(w.clock()))
	}
	w.breaks(arrival, "consumers are not done")
}

// unacknowledged are deliveries that consumers have got.
func (w *world) unacknowledged(e *endpoint) (some []*modelDelivery) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.deliveries {
		if p.to == e && !p.gone && len(p.hands) > 0 && p.state != store.StateAcknowledged && len(some) < store.MaxAcked {
			some = append(some, p)
		}
	}
	return some
}
