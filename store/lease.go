package store

import (
	"slices"
	"time"

	"teamdata/store/rows"
)

// leaseEnded is the reason of an attempt whose consumer did not say what became of it.
const leaseEnded = "the lease ended without an acknowledgment"

// Lease is the exclusive use of a delivery by the consumer that pulled it.
type Lease struct {
	ID        string // names it to the consumer; that of all deliveries of one pull
	KeyID     string // the API key that pulled
	GrantedAt time.Time
	EndsAt    time.Time
}

// Lease is the one that the delivery is in; the zero Lease: none.
func (d *Delivery) Lease() (l Lease) {
	if len(d.Leases) > 0 {
		l = d.Leases[0]
	}
	return l
}

// LeaseOf names a delivery with the lease that its consumer has.
type LeaseOf struct{ DeliveryID, Lease string }

// clockSkew is how far a clock may be set back without ending leases for it.
const clockSkew = time.Minute

// endedLeases are the ranges of deliveries whose leases have ended. A lease that ends much
// later than any granted now is of a time before the clock was set back.
func (t Tx) endedLeases(endpoint uint64) []rows.Range {
	ended, beyond := listOf(endpoint, ListLeased), listOf(endpoint, ListLeased)
	ended.To = placeKey(nil, endpoint, ListLeased, t.justAfter(0))
	beyond.From = placeKey(nil, endpoint, ListLeased, t.justAfter(MaxLease+clockSkew))
	return []rows.Range{ended, beyond}
}

// NackDeliveries gives deliveries back that a consumer has leases of, all or none: each is
// an attempt that failed for a reason, due again by the schedule or, if that is not exhausted,
// after a delay; nil: none is named. conflict: a lease has ended.
func NackDeliveries(tx Tx, key *APIKey, endpointID string, leases []LeaseOf, reason string, delay *time.Duration, schedule []time.Duration) error {
	if err := checkOptional("reason", reason, maxNackReason); err != nil {
		return err
	}
	if delay != nil && (*delay < 0 || *delay > MaxNackDelay) {
		return Invalid("delaySeconds", "must be from 0 to %d", int(MaxNackDelay.Seconds()))
	}
	if reason == "" {
		reason = "the consumer gave it back"
	}
	if delay != nil {
		schedule = slices.Repeat([]time.Duration{*delay}, len(schedule))
	}
	e, found, err := leased(tx, key, endpointID, leases)
	if err != nil {
		return err
	}
	return recordPulls(tx, &e, found, Attempt{EndedAt: tx.Now(), KeyID: key.ID, Reason: reason}, schedule)
}

// ExtendLeases makes leases end at a time from now, all or none, and returns their
// deliveries to be signed anew. conflict: a lease has ended.
func ExtendLeases(tx Tx, key *APIKey, endpointID string, leases []LeaseOf, lasts time.Duration) (Claims, error) {
	if err := checkLease(lasts); err != nil {
		return Claims{}, err
	}
	e, found, err := leased(tx, key, endpointID, leases)
	for i := range found {
		d := &found[i]
		if err == nil {
			l := d.Lease()
			l.EndsAt = tx.Now().Add(lasts)
			d.Leases = []Lease{l}
			err = tx.replaceDelivery(&d.deliveryRow, d.was)
		}
	}
	if err != nil {
		return Claims{}, err
	}
	tx.Changed().Due(e.Number, tx.Now().Add(lasts))
	claims, err := tx.withBodies(found)
	return Claims{Endpoint: e, Claims: claims}, err
}

func checkLease(lasts time.Duration) error {
	if lasts < MinLease || lasts > MaxLease {
		return Invalid("leaseSeconds", "must be from %d to %d", int(MinLease.Seconds()), int(MaxLease.Seconds()))
	}
	return nil
}

// leased finds deliveries whose leases a consumer has.
func leased(tx Tx, key *APIKey, endpointID string, leases []LeaseOf) (Endpoint, []pulled, error) {
	e, err := FindPull(tx, key, endpointID)
	if err != nil {
		return e, nil, err
	}
	if len(leases) == 0 {
		return e, nil, errNoneNamed("deliveries")
	}
	ids, lease := make([]string, len(leases)), map[string]string{}
	for i, l := range leases {
		if _, twice := lease[l.DeliveryID]; twice {
			return e, nil, Invalid("deliveries", "%.64q is given twice", l.DeliveryID)
		}
		ids[i], lease[l.DeliveryID] = l.DeliveryID, l.Lease
	}
	found, err := tx.ownDeliveries("deliveries", &e, ids)
	for i := range found {
		if d := &found[i]; d.State != StateLeased || d.Lease().ID != lease[d.ID] || !tx.Now().Before(d.Lease().EndsAt) {
			return e, nil, Errorf(CodeConflict, "The lease of %s has ended.", d.ID).Advise("Pull again; the delivery is handed out once more unless it was acknowledged.")
		}
	}
	return e, found, err
}

// lease leases deliveries that are due, up to limit, and puts back those that there is no
// room for.
func lease(tx Tx, found []pulled, granted Lease, limit int) ([]Claim, error) {
	all, err := tx.withBodies(found[:min(len(found), limit)])
	if err != nil {
		return nil, err
	}
	taken := fitting(all)
	leases := []Lease{granted} // of all of them, which nothing changes
	for i := range found {
		d, ended := &found[i].Delivery, found[i].State == StateLeased
		if ended {
			d.endLease(tx.Now())
		}
		if i < taken {
			d.State, d.Leases = StateLeased, leases
			all[i].Delivery = *d
		}
		if ended || i < taken {
			if err := tx.replaceDelivery(&found[i].deliveryRow, found[i].was); err != nil {
				return nil, err
			}
		}
	}
	if taken > 0 {
		tx.Changed().Due(all[0].Delivery.EndpointNumber, granted.EndsAt)
	}
	return all[:taken], nil
}

// fitting counts the first deliveries that have room in one pull.
func fitting(all []Claim) (n int) {
	size := 0
	for n < len(all) && (n == 0 || size+len(all[n].Body) <= MaxPulledBytes) {
		size += len(all[n].Body)
		n++
	}
	return n
}

// endLease puts a delivery back at its place. A place that is yet to come, since the clock
// was set back, is now.
func (d *Delivery) endLease(now time.Time) {
	l := d.Lease()
	d.DueAt = earliest(d.DueAt, toMillisecond(now))
	d.keep(Attempt{StartedAt: l.GrantedAt, EndedAt: l.EndsAt, TimedOut: true, Reason: leaseEnded, NextAt: d.DueAt, KeyID: l.KeyID})
	d.State, d.Leases = StateRetrying, nil
}

// endLeases puts back what consumers leased and left, for those who look at it: a pull does
// so anyway.
func (w *sweep) endLeases() {
	left := func(tx Tx, e *Endpoint) (bool, error) {
		ids, err := tx.idsOf(nil, tx.endedLeases(e.Number), 1)
		return len(ids) > 0, err
	}
	w.eachPulled(left, func(tx Tx, e Endpoint) error {
		ids, err := tx.idsOf(nil, tx.endedLeases(e.Number), MaxAcked)
		if err != nil {
			return err
		}
		found, err := tx.readPulled(ids)
		for i := range found {
			if d := &found[i]; err == nil {
				d.endLease(tx.Now())
				err = tx.replaceDelivery(&d.deliveryRow, d.was)
			}
		}
		return err
	})
}
