package store

import (
	"context"
	"slices"
	"strconv"
	"time"
)

// MaxHistory is how many attempts are kept per delivery: five rounds of the
// default schedule.
const MaxHistory = 30

// MaxKeptAnswer is how many bytes of a receiver's answer are kept per attempt.
const MaxKeptAnswer = 1 << 10

// Attempt is the outcome of one attempt to send a delivery, or of one time that it was
// pulled.
type Attempt struct {
	StartedAt time.Time // when dialing began, or it was pulled; stored to the millisecond
	EndedAt   time.Time // stored as microseconds after startedAt
	Status    int       // HTTP status of the answer; 0: there was none
	TimedOut  bool      // the deadline passed, or the lease ended
	Reason    string    // why it failed; empty: it was acknowledged
	Answer    []byte    // the first 1,024 bytes of the answer's body; see MaxKeptAnswer
	NextAt    time.Time // when the next attempt was due; zero after the last
	KeyID     string    // of the API key that pulled it; empty: it was sent
}

// Acknowledged reports whether the receiver accepted it, with any 2xx, or the consumer.
func (a *Attempt) Acknowledged() bool {
	return a.Reason == "" && (a.Status >= 200 && a.Status <= 299 || a.KeyID != "")
}

// Took returns how long it lasted.
func (a *Attempt) Took() time.Duration { return a.EndedAt.Sub(a.StartedAt) }

// DefaultRetrySchedule is how long after each failed attempt the next is due:
// 1, 5, 25, 125, then 625 minutes, so six attempts in all.
var DefaultRetrySchedule = []time.Duration{
	time.Minute, 5 * time.Minute, 25 * time.Minute, 125 * time.Minute, 625 * time.Minute,
}

// RecordAttempt writes the outcome of an attempt: acknowledged; due again after
// the schedule's next step, counted from the attempt's end; or failed when the
// schedule is exhausted. A failed delivery disables its endpoint if nothing sent
// there has been acknowledged since the delivery's first attempt. Signals tell of what
// failed, and of an endpoint that has recovered.
func RecordAttempt(tx Tx, deliveryID string, a Attempt, schedule []time.Duration) (disabled bool, err error) {
	d, err := tx.Delivery(deliveryID)
	if err != nil {
		return false, err
	}
	counts := d.record(a, schedule)
	if err = noteOutcome(tx, &d, &a); err == nil {
		err = tx.AddDeliveryCounts(d.OrgID, d.EndpointNumber, a.EndedAt, counts)
	}
	if err == nil {
		err = tx.PutDelivery(d)
	}
	if err != nil || d.State != StateFailed {
		return false, err
	}
	if disabled, err = disableUnresponsive(tx, &d); err != nil {
		return false, err
	}
	return disabled, signalFailed(tx, &d)
}

// record adds the outcome of an attempt to its delivery, which nobody has leased any more,
// and returns what it counts.
func (d *Delivery) record(a Attempt, schedule []time.Duration) DeliveryCounts {
	if d.FirstAttemptAt.IsZero() {
		d.FirstAttemptAt = toMillisecond(a.StartedAt)
	}
	d.Attempts++
	d.Leases = nil
	switch {
	case a.Acknowledged():
		d.State, d.FinishedAt = StateAcknowledged, toMillisecond(a.EndedAt)
	case d.Attempts <= len(schedule):
		a.NextAt = roundUp(a.EndedAt.Add(schedule[d.Attempts-1]))
		d.State, d.DueAt = StateRetrying, a.NextAt
	default:
		d.State, d.FinishedAt = StateFailed, toMillisecond(a.EndedAt)
	}
	d.keep(a)
	return a.Counts()
}

// keep adds an attempt to the history.
func (d *Delivery) keep(a Attempt) {
	took := a.Took().Truncate(time.Microsecond)
	a.StartedAt = toMillisecond(a.StartedAt)
	a.EndedAt = a.StartedAt.Add(max(took, 0))
	a.Answer = a.Answer[:min(len(a.Answer), MaxKeptAnswer)]
	if len(d.History) >= MaxHistory {
		d.History = d.History[len(d.History)-MaxHistory+1:]
	}
	d.History = append(d.History, a)
}

// disableUnresponsive disables the endpoint of a failed delivery, and notifies the org's
// owners and admins, if nothing was acknowledged there since the delivery's
// first attempt.
func disableUnresponsive(tx Tx, d *Delivery) (disabled bool, err error) {
	last, err := tx.LastAcknowledged(d.EndpointNumber)
	if err != nil || !last.Before(d.FirstAttemptAt) {
		return false, err
	}
	e, err := tx.Endpoint(d.OrgID, d.EndpointID)
	if err != nil || e.Disabled() || e.Number != d.EndpointNumber { // removed, or disabled already
		return false, unlessNotFound(err)
	}
	reason := strconv.Itoa(d.Attempts) + " failed attempts: " + d.History[len(d.History)-1].Explain()
	if err := setDisabled(tx, "", e.OrgID, e.ID, true, shorten(reason, maxDisabledReason)); err != nil {
		return false, err
	}
	return true, mailDisabled(tx, &e, d)
}

// mailDisabled queues the mail that explains why an endpoint was disabled.
func mailDisabled(tx Tx, e *Endpoint, d *Delivery) error {
	org, err := tx.Org(d.OrgID)
	if err != nil {
		return err
	}
	last := d.History[len(d.History)-1]
	return mailManagers(tx, d.OrgID, MailEndpointDisabled, map[string]string{
		"orgName": org.Name, "endpointId": e.ID, "endpointUrl": e.URL,
		"deliveryId": d.ID, "eventType": d.EventType, "attempts": strconv.Itoa(d.Attempts),
		"lastAttemptAt": FormatTime(last.StartedAt), "lastReason": last.Reason,
	})
}

// toMillisecond rounds down to the resolution of stored times.
func toMillisecond(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// roundUp rounds up to the resolution of stored times, so nothing is due early.
func roundUp(t time.Time) time.Time {
	return t.Add(time.Millisecond - 1).Truncate(time.Millisecond)
}

// LatestDue is the latest time at which a schedule allows anything to be due,
// plus a minute of clock skew. Anything due later was queued before the clock was
// set back.
func LatestDue(now time.Time, schedule []time.Duration) time.Time {
	return now.Add(slices.Max(append([]time.Duration{0}, schedule...)) + clockSkew)
}

// PullIn reschedules deliveries due after LatestDue as if their last attempt had
// ended now, in small transactions, at its [pace]. It returns their number.
func PullIn(ctx context.Context, s Store, now time.Time, schedule []time.Duration) (n int, err error) {
	var endpoints []uint64
	err = s.EachDue(ctx, func(endpoint uint64, _ time.Time) { endpoints = append(endpoints, endpoint) })
	if err == nil {
		err = s.View(ctx, func(tx Tx) error { return tx.eachPulled(func(e *Endpoint) { endpoints = append(endpoints, e.Number) }) })
	}
	p := newPace(patience)
	for i := 0; err == nil && i < len(endpoints); {
		var late []Delivery
		find := func(tx Tx, limit int) (err error) {
			latest := LatestDue(now, schedule)
			if IsPull(endpoints[i]) {
				latest = LatestDue(now, append(schedule[:len(schedule):len(schedule)], MaxNackDelay))
			}
			late, _, err = tx.DeliveryPage(endpoints[i], ListWaiting, CursorOf(latest, "~"), limit)
			return err
		}
		if err = s.View(ctx, func(tx Tx) error { return find(tx, 1) }); err == nil && len(late) > 0 {
			err = p.update(ctx, s, All, func(tx Tx, step int) error {
				if err := find(tx, step); err != nil {
					return err
				}
				return pullIn(tx, late, now, schedule)
			})
		}
		if len(late) == 0 {
			i++
		}
		if err == nil {
			n += len(late)
		}
	}
	return n, err
}

func pullIn(tx Tx, late []Delivery, now time.Time, schedule []time.Duration) error {
	for _, d := range late {
		if d.DueAt = toMillisecond(now); d.Attempts > 0 && len(schedule) > 0 {
			d.DueAt = roundUp(now.Add(schedule[min(d.Attempts, len(schedule))-1]))
		}
		if err := tx.PutDelivery(d); err != nil {
			return err
		}
	}
	return nil
}
