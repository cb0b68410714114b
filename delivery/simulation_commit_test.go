package delivery_test

import (
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
	moved     []*parcel
	endpoints []*endpoint
	made      *endpoint
	removed   *endpoint
	mailTo    []string // new mail
	mails     []*letter
	sent      []*letter
	drops     bool   // it may drop what is old
	answer    string // idempotency key
}

// wanted collects what an event of an org brings, as of the commit.
func (o *org) wanted(event, subject string) (w want) {
	if !o.webhooks() {
		return want{}
	}
	for _, e := range o.endpoints {
		if slices.Contains(e.selects, event) {
			w.to = append(w.to, e)
		}
	}
	if len(w.to) > 0 {
		w.event, w.subject = event, subject
	}
	return w
}

// hold holds an Update that is being committed to what it must write.
func (w *world) hold(a *act, want want) {
	w.noteLocked("%s", a.brief())
	w.holdAudits(a, want.audits)
	w.holdEvent(a, &want)
	w.holdMoved(a, want.moved)
	w.holdEndpoints(a, &want)
	w.holdMails(a, &want)
	if !want.drops && len(a.dropped)+len(a.unheard)+len(a.forgotten)+a.expired > 0 {
		w.breaksLocked(arrival, "%s dropped the deliveries %v, and %d answers", a.who, a.dropped, a.expired)
	}
	if got := len(a.answers); (got == 1) != (want.answer != "") || got == 1 && a.answers[0].Key != want.answer {
		w.breaksLocked(commits, "%s keeps %d answers under keys in this commit; the key is %q", a.who, got, want.answer)
	}
}

func (w *world) holdAudits(a *act, want []string) {
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

// holdEvent takes in what was accepted: an event, and its deliveries.
func (w *world) holdEvent(a *act, want *want) {
	if want.event == "" {
		if len(a.events)+len(a.added) > 0 {
			w.breaksLocked(commits, "%s made %d events and %d deliveries; there is nobody to hear of it", a.who, len(a.events), len(a.added))
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

func (w *world) accept(a *act, d store.Delivery, body string) *parcel {
	p := &parcel{
		name: fmt.Sprintf("d%d", len(w.parcels)+1), id: d.ID, eventID: d.EventID, to: w.endpointOf(d.OrgID, d.EndpointID),
		body: body, state: store.StatePending, due: a.now, moved: time.Now(),
	}
	w.parcels = append(w.parcels, p)
	w.byID[p.id] = p
	w.byEvent[p.eventID] = append(w.byEvent[p.eventID], p)
	w.noteLocked("  %s to %s, due %s", p.name, p.to.name, w.since(p.due))
	w.same(a, p, &d)
	return p
}

// holdMoved holds the deliveries that were written to where they must stand.
func (w *world) holdMoved(a *act, want []*parcel) {
	var got []*parcel
	for _, d := range a.put {
		p := w.byID[d.ID]
		if p == nil || p.gone {
			w.breaksLocked(arrival, "%s changed the delivery %s, which is not there", a.who, d.ID)
			return
		}
		got = append(got, p)
		w.same(a, p, &d)
		p.moved = time.Now()
	}
	if !sameSet(got, want) {
		w.breaksLocked(schedule, "%s changed the deliveries %s, not %s", a.who, parcelNames(got), parcelNames(want))
	}
}
