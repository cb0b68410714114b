package delivery_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

// want is what an Update must have written, and nothing else.
type want struct {
	audits    []string // actions, with their targets where those are known: "action target"
	event     string   // type; "" for none
	subject   string   // that the event tells of
	to        []*endpoint
	moved     []*modelDelivery
	endpoints []*endpoint
	made      *endpoint
	removed   *endpoint
	mailTo    []string // new mail
	mails     []*modelMail
	sent      []*modelMail
	drops     bool   // it may drop what is old
	answer    string // idempotency key
}

// wanted collects what an event of an org brings, as of the commit.
func (o *org) wanted(event, subject string) (w want) {
	if !o.webhooks() {
		return want{}
	}
	for _, e := range o.endpoints {
		if e.receives(event) {
			w.to = append(w.to, e)
		}
	}
	if len(w.to) > 0 {
		w.event, w.subject = event, subject
	}
	return w
}

// checkCommit compares what an Update is about to commit with what it must write.
func (w *world) checkCommit(a *transaction, want want) {
	w.noteLocked("%s", a.brief())
	w.checkAudits(a, want.audits)
	w.checkEvent(a, &want)
	w.checkMoved(a, want.moved)
	w.checkEndpoints(a, &want)
	w.checkMails(a, &want)
	if !want.drops && len(a.dropped)+len(a.droppedEvents)+len(a.forgotten)+a.expired > 0 {
		w.breaksLocked(arrival, "%s dropped the deliveries %v, and %d answers", a.who, a.dropped, a.expired)
	}
	if got := len(a.answers); (got == 1) != (want.answer != "") || got == 1 && a.answers[0].Key != want.answer {
		w.breaksLocked(commits, "%s keeps %d answers under keys in this commit; the key is %q", a.who, got, want.answer)
	}
}

func (w *world) checkAudits(a *transaction, want []string) {
	var got []string
	for i, e := range a.audits {
		line := e.Action
		if i < len(want) && strings.Contains(want[i], " ") {
			line += " " + e.TargetID
		}
		got = append(got, line)
		o := w.org(e.OrgID)
		o.audit = append(o.audit, e.ID)
	}
	if !slices.Equal(got, want) {
		w.breaksLocked(commits, "%s wrote the audit entries %q, not %q", a.who, got, want)
	}
}

// checkEvent compares the event and its deliveries with what must be accepted,
// and adds them to the model.
func (w *world) checkEvent(a *transaction, want *want) {
	if want.event == "" {
		if len(a.events)+len(a.added) > 0 {
			w.breaksLocked(commits, "%s made %d events and %d deliveries; no endpoint selects its event", a.who, len(a.events), len(a.added))
		}
		return
	}
	if len(a.events) != 1 {
		w.breaksLocked(commits, "%s made %d events", a.who, len(a.events))
		return
	}
	body := string(a.events[0].Body)
	head := fmt.Sprintf(`{"type":"%s","timestamp":"%s",`, want.event, a.now.Format("2006-01-02T15:04:05.000Z"))
	if !strings.HasPrefix(body, head) || !strings.Contains(body, `"`+want.subject+`"`) {
		w.breaksLocked(commits, "%s made the event %s", a.who, body)
	}
	var to []*endpoint
	for _, d := range a.added {
		p := w.accept(a, d, body)
		to = append(to, p.to)
	}
	if !sameSet(to, want.to) {
		w.breaksLocked(commits, "%s sends %s to %s, not to %s", a.who, want.event, names(to), names(want.to))
	}
}

func (w *world) accept(a *transaction, d store.Delivery, body string) *modelDelivery {
	p := &modelDelivery{
		name: fmt.Sprintf("d%d", len(w.deliveries)+1), id: d.ID, eventID: d.EventID, to: w.endpointOf(d.OrgID, d.EndpointID),
		body: body, state: store.StatePending, due: a.now, created: a.now, moved: time.Now(),
	}
	if ms, ok := store.IDTime(d.ID); ok && p.to.pull {
		p.due = latest(floorMs(a.now), time.UnixMilli(int64(ms)).UTC())
	}
	w.deliveries = append(w.deliveries, p)
	w.byID[p.id] = p
	w.byEvent[p.eventID] = append(w.byEvent[p.eventID], p)
	w.noteLocked("  %s to %s, due %s", p.name, p.to.name, w.since(p.due))
	w.sameDelivery(a, p, &d)
	return p
}

// checkMoved compares the deliveries that were written with the model.
func (w *world) checkMoved(a *transaction, want []*modelDelivery) {
	var got []*modelDelivery
	for _, d := range a.put {
		p := w.byID[d.ID]
		if p == nil || p.gone {
			w.breaksLocked(arrival, "%s changed the delivery %s, which is not there", a.who, d.ID)
			return
		}
		got = append(got, p)
		w.sameDelivery(a, p, &d)
		p.moved = time.Now()
	}
	if !sameSet(got, want) {
		w.breaksLocked(schedule, "%s changed the deliveries %s, not %s", a.who, deliveryNames(got), deliveryNames(want))
	}
}

// sweep drops what is kept no longer.
func (w *world) sweep() {
	f := w.as("the sweep", func(a *transaction) want { return w.dropped(a, a.now.Add(-w.retention)) })
	mailed := w.process.mailer.Wake
	w.client(func(ctx context.Context) {
		began, before := time.Now(), floorMs(w.clock()).Add(-w.retention) // what finished or was held before then must go
		err := store.Sweep(ctx, f, store.Retention{Finished: w.retention, Held: w.retention, Mailed: mailed})
		w.allow(f.who, err)
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, p := range w.deliveries {
			if err == nil && !p.gone && p.done() && p.finished.Before(before) && p.moved.Before(began) {
				w.breaksLocked(arrival, "the sweep left %s, which finished %s before", p.name, before.Sub(p.finished))
			}
			if err == nil && !p.gone && p.heldBefore(before) && p.moved.Before(began) {
				w.breaksLocked(arrival, "the sweep left %s, which was held for longer than %s", p.name, w.retention)
			}
		}
		for _, e := range w.endpoints {
			if err == nil && !e.forgotten && e.removedBefore(began) {
				w.breaksLocked(commits, "the sweep left something of %s, which was removed before", e.name)
			}
		}
	})
}

// heldBefore reports whether a disabled endpoint holds it since before a time, or nobody
// has pulled it since then.
func (p *modelDelivery) heldBefore(t time.Time) bool {
	if p.to.pull {
		return p.waiting() && floorMs(p.created).Before(t) && p.due.Before(t)
	}
	by := p.to.disabledBy
	return p.waiting() && by != nil && latest(p.due, by.now).Before(t)
}

// dropped checks that one commit of a sweep drops only what is old.
func (w *world) dropped(a *transaction, before time.Time) want {
	for _, id := range a.dropped {
		p := w.byID[id]
		if p == nil || p.gone || p.to.removedBy == nil && !p.heldBefore(before) && (!p.done() || !p.finished.Before(before)) {
			w.breaksLocked(arrival, "%s dropped %s, which is to be kept", a.who, id)
			continue
		}
		w.noteLocked("  %s is dropped", p.name)
		p.gone = true
	}
	for _, id := range a.droppedEvents {
		for _, p := range w.byEvent[id] {
			if !p.gone {
				w.breaksLocked(arrival, "%s dropped the event of %s, which is there", a.who, p.name)
			}
		}
	}
	w.forgotten(a)
	want := want{drops: true, moved: w.leasesEnd(a), mailTo: w.notPulled(a)}
	for _, id := range a.sent {
		if l := w.mails[id]; l != nil && a.now.Sub(l.created) > mailKept {
			want.sent = append(want.sent, l)
		}
	}
	return want
}

// forgotten checks that a commit of a sweep forgets only endpoints that are removed
// and have no delivery left.
func (w *world) forgotten(a *transaction) {
	for _, number := range a.forgotten {
		e := w.endpointByNumber(number)
		if e == nil || e.removedBy == nil || e.forgotten {
			w.breaksLocked(commits, "%s forgets the endpoint %d, which is not a removed one", a.who, number)
			continue
		}
		e.forgotten = true
		for _, p := range w.deliveries {
			if p.to == e && !p.gone {
				w.breaksLocked(commits, "%s forgets %s, and %s is there", a.who, e.name, p.name)
			}
		}
	}
}
