package delivery_test

import (
	"context"
	"time"

	"teamdata/store"
)

// What the contract says of attempts, in the world's own words.
const (
	deadline = 15 * time.Second
	prompt   = time.Second // how late an attempt may begin
)

var pauses = []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute, 125 * time.Minute, 625 * time.Minute}

// Claim holds what the dispatcher takes in hand to what it may take.
func (f face) Claim(ctx context.Context, number uint64, now time.Time, limit int) (store.Claims, error) {
	if f.w.isBroken() {
		return store.Claims{}, errBroken
	}
	f.w.mu.Lock()
	e := f.w.endpointByNumber(number)
	disabledBy := e.disabledBy
	wasDisabled := disabledBy != nil && disabledBy.returned
	wasRemoved := e.removedBy != nil && e.removedBy.returned
	f.w.mu.Unlock()

	claims, err := f.Store.Claim(ctx, number, now, limit)

	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	if wasDisabled && e.disabledBy == disabledBy && len(claims.Claims) > 0 {
		f.w.breaksLocked(schedule, "%d deliveries are sent to %s, which is disabled", len(claims.Claims), e.name)
	}
	if wasRemoved && len(claims.Claims) > 0 {
		f.w.breaksLocked(schedule, "%d deliveries are sent to %s, which was removed", len(claims.Claims), e.name)
	}
	busy := e.claimed > 0
	for i := range claims.Claims {
		f.w.take(e, claims.Claims[i].Delivery.ID, now, busy)
	}
	return claims, f.w.restless(e, len(claims.Claims), err)
}

// take is a delivery that is taken in hand.
func (w *world) take(e *endpoint, id string, now time.Time, busy bool) {
	p := w.byID[id]
	switch {
	case p == nil || p.to != e || p.gone && e.removedBy == nil:
		w.breaksLocked(arrival, "%s is taken for %s, and is not there for it", id, e.name)
		return
	case w.inHand[id] != nil:
		w.breaksLocked(schedule, "%s is taken twice at the same time", p.name)
	case !p.waiting():
		w.breaksLocked(duplicates, "%s is taken, which is %s", p.name, p.state)
	case p.due.After(now):
		w.breaksLocked(schedule, "%s is taken %s before it is due", p.name, p.due.Sub(now))
	}
	w.holdPromptness(p, busy)
	if e.timedOut && e.claimed > 0 && e.landedAt.Before(now) {
		w.breaksLocked(neighbours, "%s is sent to %s, which timed out last, beside %d others", p.name, e.name, e.claimed)
	}
	w.inHand[id], p.takenAt = p, time.Now()
	if e.claimed++; e.claimed > w.config.PerEndpoint || len(w.inHand) > w.config.Total {
		w.breaksLocked(schedule, "%d attempts to %s are in flight, and %d in all", e.claimed, e.name, len(w.inHand))
	}
}

// Release is a delivery that is given back.
func (f face) Release(id string) {
	f.w.mu.Lock()
	f.w.happened++
	if p := f.w.inHand[id]; p != nil {
		delete(f.w.inHand, id)
		p.to.lands(p.lastTry())
		if p.to.claimed--; p.to.claimed == 0 {
			p.to.idleSince = time.Now()
		}
	}
	f.w.mu.Unlock()
	f.Store.Release(id)
}

// lands notes whether the latest attempts timed out, all that landed at that
// time.
func (e *endpoint) lands(t *try) {
	timedOut := t != nil && t.timedOut
	if e.landedAt.Equal(time.Now()) {
		timedOut = timedOut && e.timedOut
	}
	e.timedOut, e.landedAt = timedOut, time.Now()
}

// holdAttempt holds an attempt that begins to those before it.
func (w *world) holdAttempt(p *parcel, process *process) {
	if w.inHand[p.id] == nil {
		w.breaksLocked(schedule, "%s is sent and not in hand", p.name)
	}
	last := p.lastTry()
	switch {
	case last == nil:
	case !last.over:
		w.breaksLocked(schedule, "%s is sent twice at the same time", p.name)
	case last.process == process.number && !last.recorded:
		w.breaksLocked(duplicates, "%s is sent again, and the outcome of its last attempt was not committed (acknowledged: %t)", p.name, last.acked)
	}
}

// attempted is the outcome of an attempt of a process, on its way into the
// store.
func (w *world) attempted(process *process, a *act) (want want) {
	if len(a.put) != 1 || w.byID[a.put[0].ID] == nil || w.byID[a.put[0].ID].gone {
		w.breaksLocked(arrival, "the outcome of one attempt changes %d deliveries", len(a.put))
		return want
	}
	p := w.byID[a.put[0].ID]
	t := p.lastTry()
	if t == nil || !t.over || t.recorded || t.process != process.number {
		w.breaksLocked(schedule, "an outcome is written for %s, and no attempt has ended since the last", p.name)
		return want
	}
	if t.cut {
		w.breaksLocked(schedule, "an attempt of %s is counted, which a stop cut off", p.name)
	}
	want.moved = []*parcel{p}
	w.interfere(p)
	if w.count(p, t); p.state == store.StateFailed {
		w.disableDead(a, p, &want)
	}
	return want
}

// count counts an attempt, by the schedule.
func (w *world) count(p *parcel, t *try) {
	t.recorded, p.lastEnd = true, t.end
	if p.first.IsZero() {
		p.first = floorMs(t.start)
	}
	p.made++
	p.attempts++
	switch {
	case t.acked:
		p.state, p.finished = store.StateAcknowledged, floorMs(t.end)
		p.to.lastTaken = latest(p.to.lastTaken, p.finished)
	case p.attempts <= len(pauses):
		p.state, p.due = store.StateRetrying, ceilMs(t.end.Add(pauses[p.attempts-1]))
	default:
		p.state, p.finished = store.StateFailed, floorMs(t.end)
	}
}

// disableDead is the rule by which an endpoint is disabled: a delivery failed
// there, and nothing was acknowledged since its first attempt.
func (w *world) disableDead(a *act, p *parcel, want *want) {
	e := p.to
	if e.disabledBy != nil || e.removedBy != nil || !e.lastTaken.Before(p.first) {
		return
	}
	w.sum.disabled++
	e.disabledBy = a
	want.endpoints = []*endpoint{e}
	want.audits = []string{"endpoint.disabled " + e.id}
	want.mailTo = w.org(e.orgID).addresses()
}
