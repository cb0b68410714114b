package store

import (
	"context"
	"time"

	"teamdata/store/rows"
)

// Limits of a Backlog's counts, to keep counting a large queue cheap.
const (
	MaxCountedDeliveries = 100_000
	MaxCountedMails      = 1000
)

// Waiting counts waiting deliveries: those in a ListWaiting, neither acknowledged
// nor failed. Each is due, due later, held, or to be pulled.
type Waiting struct {
	Due    int  // due now
	Later  int  // due later
	Held   int  // their endpoint is disabled, whenever they are due
	Pull   int  // to be pulled, whenever they are due
	Capped bool // there are more than were counted
}

// Total returns the number of waiting deliveries.
func (w Waiting) Total() int { return w.Due + w.Later + w.Held + w.Pull }

// add counts more deliveries of one endpoint, up to most of all.
func (w *Waiting) add(e *Endpoint, due, later, most int) {
	room := most - w.Total()
	w.Capped = w.Capped || due+later > room
	due = min(due, room)
	later = min(later, room-due)
	switch {
	case e.Disabled():
		w.Held += due + later
	case e.Pull():
		w.Pull += due + later
	default:
		w.Due += due
		w.Later += later
	}
}

// Backlog is what waits to be sent in all orgs, for the status and the metrics.
type Backlog struct {
	Waiting           // deliveries, up to MaxCountedDeliveries
	Busy    int       // enabled endpoints with deliveries that wait to be sent
	DueAt   time.Time // of the earliest of those; zero: none
	PullAt  time.Time // since when the oldest waits to be pulled; zero: none
	Leased  int       // deliveries that were pulled and not acknowledged yet, up to MaxCountedDeliveries
	HeldAt  time.Time // since when the oldest has been held; zero: none
	Mails   int       // waiting messages, up to MaxCountedMails
	MailsAt time.Time // when the oldest of them was queued; zero: none
}

// Backlog counts what waits. It costs a seek per endpoint, and a step per delivery counted.
func (t Tx) Backlog(ctx context.Context) (b Backlog, err error) {
	err = t.eachWaiting(ctx, func(some []Busy) (bool, error) {
		for _, e := range some {
			switch {
			case e.Disabled():
				b.HeldAt = earliest(b.HeldAt, e.HeldSince(e.DueAt))
			case e.Pull():
				b.PullAt = earliest(b.PullAt, earliest(e.DueAt, t.Now()))
			default:
				b.Busy++
				b.DueAt = earliest(b.DueAt, e.DueAt)
			}
		}
		return true, t.countWaiting(&b.Waiting, some, MaxCountedDeliveries)
	})
	if err == nil {
		b.Leased, err = t.countLeased(MaxCountedDeliveries)
	}
	if err != nil {
		return b, err
	}
	mails, err := t.Mails("", MaxCountedMails)
	if b.Mails = len(mails); len(mails) > 0 {
		b.MailsAt = mails[0].CreatedAt
	}
	return b, err
}

// countLeased counts the deliveries that are leased, up to most.
func (t Tx) countLeased(most int) (n int, err error) {
	for after := FirstPull; n < most; {
		found, err := t.pulledAfter(after, endpointsAtOnce)
		if err != nil || len(found) == 0 {
			return n, err
		}
		ranges := make([]rows.Range, len(found))
		for i := range found {
			ranges[i] = listOf(found[i].Number, ListLeased)
			ranges[i].Limit = most - n
		}
		counts, err := t.Count(&deliveries.Kind, ranges)
		for _, leased := range counts {
			n += leased
		}
		if err != nil {
			return n, stored(err)
		}
		after = found[len(found)-1].Number
	}
	return min(n, most), nil
}

// earliest returns the earlier of two times; a zero a is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
