package delivery_test

import (
	"context"
	"slices"
	"time"

	"teamdata/store"
)

// Consumers of a fleet ask another node each time, and share what they know: it is in the
// books of each parcel. An answer may be lost, and so may be whether there was one.

// hold is a lease that a consumer was granted. Its times are by the clocks of the nodes that
// granted and changed it.
type hold struct {
	lease           string
	asked, answered int // moments of the pull, in the order in which the fleet saw them
	granted, until  time.Time
	lost            bool // the consumer does not know of it
	over            bool // it was given back; the delivery is not due before until
	passed          bool // the clock had reached until when it was set back, and a node may have seen that
	unsure          bool // something is asked for that changes until, and not answered
}

// before reports whether a lease had ended when another one was granted.
func (h *hold) before(other *hold) bool {
	return h.unsure || h.passed || !other.granted.Before(h.until)
}

// lasts enters a lease's end in the books, by a request that began at a moment.
func (f *fleet) lasts(h *hold, asked int, until time.Time) {
	h.until, h.passed = until, f.setBack > asked && !until.After(f.clockWas)
}

// passClock notes, before the clock is set back, the leases whose ends it has reached.
func (f *fleet) passClock(now time.Time) {
	f.setBack, f.clockWas = f.moment(), latest(f.clockWas, now)
	for _, d := range f.handed {
		for _, h := range d.holds {
			h.passed = h.passed || !h.until.After(now)
		}
	}
}

// checkHolds checks that no two consumers have a delivery at the same time.
func (f *fleet) checkHolds(d *parcel) {
	for i, h := range d.holds {
		for _, other := range d.holds[:i] {
			may := h.answered > other.asked && other.before(h) || other.answered > h.asked && h.before(other)
			if !may || h.lease == other.lease {
				f.breaksLocked(exclusive, "%s is leased as %s from %s to %s, and as %s from %s to %s", d.id,
					other.lease, f.since(other.granted), f.since(other.until), h.lease, f.since(h.granted), f.since(h.until))
			}
		}
	}
}

func (f *fleet) since(t time.Time) time.Duration { return t.Sub(f.born) }

// consumerAction lets a consumer do something.
func (f *fleet) consumerAction() {
	e := pick(f.Rand, slices.DeleteFunc(slices.Clone(f.endpoints), func(e *endpoint) bool { return !e.pull }))
	lasts := pick(f.Rand, []time.Duration{store.MinLease, 20 * time.Second, store.DefaultLease})
	switch n := f.IntN(100); {
	case n < 55:
		f.pull(e, 1+f.IntN(6), lasts, f.unacknowledged(e, f.IntN(4)), f.IntN(5) == 0)
	case n < 70:
		f.acknowledge(e, f.unacknowledged(e, 1+f.IntN(4)))
	case n < 85:
		f.giveBack(e, f.held(e, 2), pick(f.Rand, []time.Duration{-1, 0, 10 * time.Second}))
	default:
		f.extend(e, f.held(e, 2), lasts)
	}
}

// unacknowledged are up to most deliveries that consumers got, seldom with one that they
// know to be acknowledged.
func (f *fleet) unacknowledged(e *endpoint, most int) []*parcel {
	return f.some(e, most, func(d *parcel) bool {
		return slices.ContainsFunc(d.holds, func(h *hold) bool { return !h.lost }) && (d.ackedAt == 0 || f.IntN(30) == 0)
	})
}

// held are up to most deliveries that a consumer seems to have.
func (f *fleet) held(e *endpoint, most int) []*parcel {
	return f.some(e, most, func(d *parcel) bool {
		h := d.holds[len(d.holds)-1]
		return d.ackedAt == 0 && !h.lost && !h.over && !h.unsure && f.IntN(4) > 0
	})
}

// some are up to most of what was handed out last.
func (f *fleet) some(e *endpoint, most int, which func(*parcel) bool) (some []*parcel) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range slices.Backward(f.handed) {
		if d.to == e && len(some) < most && which(d) {
			some = append(some, d)
		}
	}
	return some
}

func parcelIDs(some []*parcel) (ids []string) {
	for _, d := range some {
		ids = append(ids, d.id)
	}
	return ids
}

// moment is when something happened, after all that happened before.
func (f *fleet) moment() int {
	f.moments++
	return f.moments
}

// asks begins a request that acknowledges deliveries.
func (f *fleet) asks(acked []*parcel) (asked int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range acked {
		d.ackAsked = true
	}
	return f.moment()
}

// consume is a request of a consumer to a node. then is called, with the lock, when it ends.
func (f *fleet) consume(e *endpoint, deliveries []string, do func(tx store.Tx) error, then func(p *fleetProcess, a *transaction, err error)) {
	p := f.running()
	if p == nil {
		return
	}
	f.clients.Go(func() {
		a, err := f.update(p, e.orgID, func(s store.Store, seen func(store.Tx) store.Tx) error {
			return s.Update(context.Background(), store.Scope{Orgs: []string{e.orgID}, Deliveries: deliveries}, func(tx store.Tx) error { return do(seen(tx)) })
		})
		f.mu.Lock()
		defer f.mu.Unlock()
		then(p, a, err)
	})
}

// refused tells of an error that no trouble explains.
func (f *fleet) refused(what string, e *endpoint, err error) {
	if err != nil && store.CodeOf(err) != store.CodeUnavailable {
		f.breaksLocked(commits, "%s at %s got %v", what, e.name, err)
	}
}

// pull acknowledges deliveries and pulls others; the answer may be lost.
func (f *fleet) pull(e *endpoint, limit int, lasts time.Duration, acked []*parcel, lost bool) {
	r := store.PullRequest{Key: consumerKey(e.orgID), Ack: parcelIDs(acked), Limit: limit, Lease: lasts}
	asked := f.asks(acked)
	var got store.Claims
	f.consume(e, r.Ack, func(tx store.Tx) (err error) {
		got, err = store.Pull(tx, e.id, r)
		return err
	}, func(p *fleetProcess, a *transaction, err error) {
		if f.refused("a pull", e, err); err != nil {
			for i := range a.put {
				f.perhaps[a.put[i].ID]++
			}
			return
		}
		for i := range got.Claims {
			f.hand(p, e, &got.Claims[i], &hold{asked: asked, lost: lost}, acked)
		}
		if !lost {
			f.knows(acked)
		}
	})
}

// hand enters in the books that a delivery was handed out.
func (f *fleet) hand(p *fleetProcess, e *endpoint, c *store.Claim, h *hold, acked []*parcel) {
	d, l := f.parcel(c.Delivery.ID, e, string(c.Body)), c.Delivery.Lease()
	h.lease, h.granted, h.answered = l.ID, l.GrantedAt, f.moment()
	f.lasts(h, h.asked, l.EndsAt)
	if d.ackedAt > 0 && d.ackedAt < h.asked || slices.Contains(acked, d) {
		f.breaksLocked(duplicates, "%s is handed out by %s, and was acknowledged", d.id, p.node.name)
	}
	if f.sum.handed++; len(d.holds) > 0 {
		f.sum.again++
	} else {
		f.handed = append(f.handed, d)
	}
	d.holds = append(d.holds, h)
	f.noteLocked("%s is handed out by %s as %s until %s (lost: %t)", d.id, p.node.name, h.lease, f.since(h.until), h.lost)
	f.checkHolds(d)
}

// knows notes that consumers know what is acknowledged.
func (f *fleet) knows(acked []*parcel) {
	for _, d := range acked {
		f.noteLocked("%s is acknowledged", d.id)
		if d.ackedAt == 0 {
			d.ackedAt = f.moment()
		}
	}
}

func (f *fleet) acknowledge(e *endpoint, some []*parcel) {
	if len(some) == 0 {
		return
	}
	ids, lost := parcelIDs(some), f.IntN(5) == 0
	f.asks(some)
	f.consume(e, ids, func(tx store.Tx) error {
		return store.AckDeliveries(tx, consumerKey(e.orgID), e.id, ids)
	}, func(_ *fleetProcess, _ *transaction, err error) {
		if f.refused("an acknowledgment", e, err); err == nil && !lost {
			f.knows(some)
		}
	})
}

// giveBack gives deliveries back, for a time; negative: as long as the schedule has it.
func (f *fleet) giveBack(e *endpoint, some []*parcel, pause time.Duration) {
	var delay *time.Duration
	if pause >= 0 {
		delay = &pause
	}
	f.change("giving back", e, some, func(tx store.Tx, of []store.LeaseOf) error {
		return store.NackDeliveries(tx, consumerKey(e.orgID), e.id, of, "not now", delay, f.schedule)
	}, func(h *hold, now time.Time) time.Time {
		h.over = true
		return now.Add(max(pause, 0))
	})
}

func (f *fleet) extend(e *endpoint, some []*parcel, lasts time.Duration) {
	f.change("extending", e, some, func(tx store.Tx, of []store.LeaseOf) error {
		_, err := store.ExtendLeases(tx, consumerKey(e.orgID), e.id, of, lasts)
		return err
	}, func(_ *hold, now time.Time) time.Time { return now.Add(lasts) })
}

// change does something with the leases of deliveries that changes when they end.
func (f *fleet) change(what string, e *endpoint, some []*parcel, do func(store.Tx, []store.LeaseOf) error, to func(h *hold, now time.Time) time.Time) {
	f.mu.Lock()
	asked := f.moment()
	up := slices.ContainsFunc(f.nodes, func(n *fleetNode) bool { return n.process != nil })
	var of []store.LeaseOf
	var holds []*hold
	for _, d := range some {
		h := d.holds[len(d.holds)-1]
		h.unsure = h.unsure || up
		of, holds = append(of, store.LeaseOf{DeliveryID: d.id, Lease: h.lease}), append(holds, h)
	}
	f.mu.Unlock()
	if len(some) == 0 {
		return
	}
	f.consume(e, nil, func(tx store.Tx) error { return do(tx, of) }, func(p *fleetProcess, a *transaction, err error) {
		f.noteLocked("%s %s at %s: %v", what, parcelIDs(some), p.node.name, err)
		code := store.CodeOf(err)
		if code == store.CodeUnavailable {
			return
		}
		if code == store.CodeConflict {
			f.sum.refused++
		} else {
			f.refused(what, e, err)
		}
		for i, h := range holds {
			if h.unsure = false; err == nil {
				f.changed(some[i], h, a.now)
				f.lasts(h, asked, to(h, a.now))
				f.checkHolds(some[i])
			}
		}
		if err != nil && f.jumps == 0 && !slices.ContainsFunc(some, func(d *parcel) bool { return d.mayBeLost(a.now, holds) }) {
			f.breaksLocked(exclusive, "%s %s is refused by %s, whose leases go on", what, parcelIDs(some), p.node.name)
		}
	})
}

// changed checks that a lease that was changed had not ended.
func (f *fleet) changed(d *parcel, h *hold, now time.Time) {
	if !now.Before(h.until) {
		f.breaksLocked(exclusive, "a lease of %s is changed at %s, and ended at %s", d.id, f.since(now), f.since(h.until))
	}
}

// mayBeLost reports whether a consumer may have lost one of some leases, that of this
// delivery.
func (d *parcel) mayBeLost(now time.Time, holds []*hold) bool {
	return d.ackAsked || slices.ContainsFunc(d.holds, func(h *hold) bool {
		return slices.Contains(holds, h) && !now.Add(3*tick).Before(h.until)
	})
}

// drain pulls and acknowledges all that is left.
func (f *fleet) drain() {
	for range 20 {
		before := f.sum.handed
		for _, e := range f.endpoints {
			if e.pull {
				f.pull(e, store.MaxPulled, store.MinLease, f.unacknowledged(e, store.MaxAcked), false)
			}
		}
		f.clients.Wait()
		if f.isBroken() || f.sum.handed == before {
			return
		}
		f.rest(time.Second)
	}
}

// comparePulled checks that a delivery was pulled, and shows how often.
func (f *fleet) comparePulled(d *parcel, is *store.Delivery) {
	if is.State != store.StateAcknowledged || !d.ackAsked {
		f.breaksLocked(arrival, "%s to %s is %s in the end; a consumer acknowledged it: %t", is.ID, d.to.name, is.State, d.ackAsked)
	}
	f.checkHolds(d)
	// An acknowledgment after the lease is an attempt of its own.
	if n, least := len(is.History), min(len(d.holds), store.MaxHistory); n < least || n > len(d.holds)+f.perhaps[d.id]+1 {
		f.breaksLocked(duplicates, "%s shows %d attempts; it was handed out %d times, and perhaps %d more", d.id, n, len(d.holds), f.perhaps[d.id])
	}
}
