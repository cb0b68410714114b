package delivery_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"teamdata/store"
)

// What the contract says of attempts, in the world's own words.
const (
	deadline = 15 * time.Second
	prompt   = time.Second // how late an attempt may begin
)

var pauses = []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute, 125 * time.Minute, 625 * time.Minute}

// Claim checks that the dispatcher may claim what it claims.
func (f storeClient) Claim(ctx context.Context, number uint64, now time.Time, limit int) (store.Claims, error) {
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
		f.w.claim(e, claims.Claims[i].Delivery.ID, now, busy)
	}
	return claims, f.w.checkBusyLoop(e, len(claims.Claims), err)
}

// claim checks one delivery that the dispatcher has claimed.
func (w *world) claim(e *endpoint, id string, now time.Time, busy bool) {
	p := w.byID[id]
	switch {
	case p == nil || p.to != e || p.gone && e.removedBy == nil:
		w.breaksLocked(arrival, "%s is claimed for %s, and is not there for it", id, e.name)
		return
	case w.claimed[id] != nil:
		w.breaksLocked(schedule, "%s is claimed twice at the same time", p.name)
	case !p.waiting():
		w.breaksLocked(duplicates, "%s is claimed, which is %s", p.name, p.state)
	case p.due.After(now):
		w.breaksLocked(schedule, "%s is claimed %s before it is due", p.name, p.due.Sub(now))
	}
	w.checkPromptness(p, busy)
	if e.timedOut && e.claimed > 0 && e.lastEndAt.Before(now) {
		w.breaksLocked(neighbours, "%s is sent to %s, which timed out last, beside %d others", p.name, e.name, e.claimed)
	}
	w.claimed[id], p.claimedAt = p, time.Now()
	most := w.config.PerEndpoint
	if e.options.MaxInFlight > 0 {
		most = min(most, e.options.MaxInFlight)
	}
	if e.claimed++; e.claimed > most || len(w.claimed) > w.config.Total {
		w.breaksLocked(schedule, "%d attempts to %s are in flight, and %d in all", e.claimed, e.name, len(w.claimed))
	}
}

// Release notes that an attempt is done with.
func (f storeClient) Release(id string) {
	f.w.mu.Lock()
	f.w.happened++
	if p := f.w.claimed[id]; p != nil {
		delete(f.w.claimed, id)
		if t := p.lastTry(); t != nil && !t.start.Before(p.claimedAt) { // else none was made
			p.to.finish(t)
		}
		if p.to.claimed--; p.to.claimed == 0 {
			p.to.idleSince = time.Now()
		}
	}
	f.w.mu.Unlock()
	f.Store.Release(id)
}

// finish notes whether the latest attempts timed out: all those that ended at the
// same instant.
func (e *endpoint) finish(t *try) {
	timedOut := t.timedOut
	if e.lastEndAt.Equal(time.Now()) {
		timedOut = timedOut && e.timedOut
	}
	e.timedOut, e.lastEndAt = timedOut, time.Now()
}

// checkAttempt checks that an attempt may begin, given those before it.
func (w *world) checkAttempt(p *modelDelivery, process *process) {
	if w.claimed[p.id] == nil {
		w.breaksLocked(schedule, "%s is sent and not claimed", p.name)
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

// attempted says what the commit with an attempt's outcome must write.
func (w *world) attempted(process *process, a *transaction) (want want) {
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
	want.moved = []*modelDelivery{p}
	w.interleave(p)
	if w.count(p, t); p.state == store.StateFailed {
		w.disableUnresponsive(a, p, &want)
	}
	return want
}

// count applies the retry schedule to an attempt.
func (w *world) count(p *modelDelivery, t *try) {
	t.recorded, p.lastEnd = true, floorMs(floorMs(t.start).Add(t.end.Sub(t.start)))
	if p.first.IsZero() {
		p.first = floorMs(t.start)
	}
	p.made++
	p.attempts++
	switch {
	case t.acked:
		p.state, p.finished = store.StateAcknowledged, floorMs(t.end)
		p.to.lastAcked = latest(p.to.lastAcked, p.finished)
	case p.attempts <= len(pauses):
		p.state, p.due = store.StateRetrying, ceilMs(t.end.Add(pauses[p.attempts-1]))
	default:
		p.state, p.finished = store.StateFailed, floorMs(t.end)
	}
}

// disableUnresponsive is the rule by which an endpoint is disabled: a delivery failed
// there, and nothing was acknowledged since its first attempt.
func (w *world) disableUnresponsive(a *transaction, p *modelDelivery, want *want) {
	e := p.to
	if e.disabledBy != nil || e.removedBy != nil || !e.lastAcked.Before(p.first) {
		return
	}
	w.sum.disabled++
	e.disabledBy = a
	want.endpoints = []*endpoint{e}
	want.audits = []string{"endpoint.disabled " + e.id}
	want.mailTo = w.org(e.orgID).addresses()
}

// readyAt is from when on nothing but the endpoint's other deliveries keeps a
// delivery from being sent.
func (w *world) readyAt(p *modelDelivery) time.Time {
	return latest(p.due, p.moved, p.to.enabledAt, w.calmAt)
}

// checkPromptness checks that a delivery is not claimed much later than it could
// have been.
func (w *world) checkPromptness(p *modelDelivery, busy bool) {
	if !w.roomy || p.to.mayWait() {
		return // it may have waited for room, or for its turn
	}
	ready := w.readyAt(p)
	if late := time.Since(ready); p.to.character.kind == healthy && late > prompt {
		w.breaksLocked(neighbours, "%s is sent to %s, which is well, %s late", p.name, p.to.name, late)
	}
	if late := time.Since(latest(ready, p.to.idleSince)); !busy && late > prompt {
		w.breaksLocked(schedule, "%s is sent to %s, which was idle, %s late", p.name, p.to.name, late)
	}
}

// checkOverdue looks for what should have been done by now, while all sleep.
func (w *world) checkOverdue() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.deliveries {
		if !p.gone && p.waiting() && !p.to.pull && p.to.disabledBy == nil && p.to.removedBy == nil && w.claimed[p.id] == nil {
			w.checkPromptness(p, p.to.claimed > 0)
		}
	}
	for _, l := range w.mails {
		if late := time.Since(latest(l.due, l.moved, w.calmAt)); !l.gone && late > time.Minute {
			w.breaksLocked(disabling, "the mail %s to %s is %s late", l.id, l.to, late)
		}
	}
}

// checkBusyLoop finds a dispatcher that claims again and again while nothing has
// happened and nothing is due. The error that it returns makes the dispatcher
// pause, so that time passes on.
func (w *world) checkBusyLoop(e *endpoint, found int, err error) error {
	if e.emptyClaims++; found > 0 || w.happened != e.happened {
		e.emptyClaims, e.happened = 0, w.happened
	}
	if e.emptyClaims < 6 {
		return err
	}
	w.breaksLocked(memory, "the dispatcher claims again and again from %s, which has nothing due", e.name)
	return errBroken
}

// checkSignature checks a request's signatures with the secrets that its endpoint
// has, or had when the delivery was claimed.
func (w *world) checkSignature(p *modelDelivery, h http.Header, body string) {
	unix := strconv.FormatInt(time.Now().Unix(), 10)
	if field(h, "webhook-timestamp") != unix {
		w.breaksLocked(arrival, "%s is sent at %s with the timestamp %s", p.name, unix, field(h, "webhook-timestamp"))
	}
	keys := p.to.keys
	for i := len(keys) - 1; i >= 0; i-- {
		if field(h, "webhook-signature") == keys[i].sign(p.id+"."+unix+"."+body) {
			return
		}
		if by := keys[i].by; by == nil || by.returned && by.returnedAt.Before(p.claimedAt) {
			break // an older one is no excuse
		}
	}
	w.breaksLocked(arrival, "%s is signed with other secrets than those of %s", p.name, p.to.name)
}

// sign makes the signatures that are due now, the newest first.
func (k *keys) sign(text string) string {
	all := []string{sign(k.secret, text)}
	if k.old != "" && time.Now().Before(k.oldUntil) {
		all = append(all, sign(k.old, text))
	}
	return strings.Join(all, " ")
}

func sign(secret, text string) string {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// field is a header field's value, in whichever case its name is written.
func field(h http.Header, name string) string {
	for key, values := range h {
		if strings.EqualFold(key, name) && len(values) == 1 {
			return values[0]
		}
	}
	return ""
}
