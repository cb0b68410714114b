package store

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"teamdata/store/rows"
)

// Bounds of what a consumer asks for.
const (
	MaxPulled      = 100              // deliveries in one pull
	MaxPulledBytes = 1 << 20          // of bodies in one pull, which has one delivery at least
	MaxPullWait    = 60 * time.Second // for the first delivery
	MinLease       = 5 * time.Second
	MaxLease       = time.Hour
	DefaultLease   = time.Minute
	MaxAcked       = 1000           // deliveries acknowledged, given back or extended at once
	MaxNackDelay   = 24 * time.Hour // until one that was given back is handed out again
	maxNackReason  = 300            // characters
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

// FindPull finds an endpoint to pull from with an API key. notFound: the org has no such
// endpoint; forbidden: it is not among the key's; conflict: its events are sent.
func FindPull(tx Tx, key *APIKey, id string) (Endpoint, error) {
	e, err := FindEndpoint(tx, key.OrgID, id)
	switch {
	case err != nil:
	case !key.MayPull(id):
		err = Errorf(CodeForbidden, "The API key may not pull from this endpoint.")
	case !e.Pull():
		err = Errorf(CodeConflict, "The endpoint's events are sent to its URL, and can't be pulled.").Advise("Add an endpoint of the kind pull.")
	}
	return e, err
}

// FindOpenPull is FindPull of one that hands deliveries out. conflict: it is disabled, too.
func FindOpenPull(tx Tx, key *APIKey, id string) (Endpoint, error) {
	e, err := FindPull(tx, key, id)
	if err == nil && e.Disabled() {
		err = Errorf(CodeConflict, "The webhook endpoint is disabled.").Advise("Enable it in the org's settings first.")
	}
	return e, err
}

// PullDue returns from when on a pull from an endpoint finds a delivery, at now or later;
// zero: none waits or is leased.
func (t Tx) PullDue(endpoint uint64) (at time.Time, err error) {
	now, later := t.Now(), false
	ranges := append(t.endedLeases(endpoint), listOf(endpoint, ListLeased), listOf(endpoint, ListWaiting))
	for i := range ranges {
		ranges[i].Limit = 1
	}
	err = t.Ranges(&deliveries.Kind, ranges, unlimited, func(i int, item rows.Item) bool {
		due := DueAt(item.Key)
		switch {
		case i < len(ranges)-2: // of a lease that has ended
			due = now
		case i == len(ranges)-1:
			later = due.After(now)
		}
		at = earliest(at, due)
		return true
	})
	if err == nil && later && at.After(now) {
		err = t.Scan(&deliveries.Kind, t.ahead(endpoint, 1), func(rows.Item) bool {
			at = now
			return false
		})
	}
	return at, stored(err)
}

// PullRequest is one pull.
type PullRequest struct {
	Key   *APIKey
	Ack   []string // ids of deliveries that are acknowledged first, at most MaxAcked
	Limit int      // 1 to MaxPulled
	Lease time.Duration
}

// Pull acknowledges deliveries, then leases those of an endpoint that are due, in their
// order, up to the limit or MaxPulledBytes. Leases that have ended count as attempts that use
// up nothing, and their deliveries stand where they were. conflict: the endpoint is disabled;
// badRequest: a delivery to acknowledge is none of the endpoint's.
func Pull(tx Tx, endpointID string, r PullRequest) (Claims, error) {
	err := cmp.Or(checkLease(r.Lease), checkLimit(r.Limit))
	if err != nil {
		return Claims{}, err
	}
	e, err := FindOpenPull(tx, r.Key, endpointID)
	var acked []pulled
	if err == nil {
		acked, err = tx.ownDeliveries("ack", &e, r.Ack)
	}
	if err != nil {
		return Claims{}, err
	}
	granted := Lease{ID: tx.NewID(PrefixLease), KeyID: r.Key.ID, GrantedAt: tx.Now(), EndsAt: tx.Now().Add(r.Lease)}
	found, err := tx.duePulls(e.Number, r.Limit+countWaits(acked), granted.ID)
	if err == nil {
		err = acknowledgeAll(tx, &e, acked, r.Key.ID)
	}
	if err != nil {
		return Claims{}, err
	}
	claims, err := lease(tx, without(found, acked), granted, r.Limit)
	if err != nil {
		return Claims{}, err
	}
	return Claims{Endpoint: e, Claims: claims}, notePulled(tx, e.Number, r.Key.ID)
}

func checkLimit(limit int) error {
	if limit < 1 || limit > MaxPulled {
		return Invalid("limit", "must be from 1 to %d", MaxPulled)
	}
	return nil
}

// pulled is a delivery with its stored value.
type pulled struct {
	deliveryRow // whose body is a part of was
	was         []byte
}

// countWaits counts those that stand in the waiting list.
func countWaits(all []pulled) (n int) {
	for i := range all {
		if all[i].State.Waiting() {
			n++
		}
	}
	return n
}

// without leaves out those that are in a list in order of id.
func without(found, those []pulled) []pulled {
	return slices.DeleteFunc(found, func(p pulled) bool {
		_, in := slices.BinarySearchFunc(those, p.ID, func(d pulled, id string) int { return strings.Compare(d.ID, id) })
		return in
	})
}

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

// ahead is the range of deliveries that were never handed out, and whose place in the order
// is later than now, because the clock was set back since an id was made. Nothing is to be
// waited for.
func (t Tx) ahead(endpoint uint64, limit int) rows.Range {
	r := listOf(endpoint, ListWaiting)
	r.From = placeKey(nil, endpoint, ListWaiting, t.justAfter(0))
	r.Bare, r.Limit = true, limit
	return r
}

// justAfter is the position behind all of a moment, some time from now.
func (t Tx) justAfter(later time.Duration) Cursor {
	return Cursor{Ms: uint64(max(t.Now().Add(later).UnixMilli(), 0)) + 1}
}

// duePulls reads what is due at an endpoint: up to limit deliveries that wait, with those
// whose leases have ended in their places among them, up to MaxAcked. newest is an id made now.
func (t Tx) duePulls(endpoint uint64, limit int, newest string) (found []pulled, err error) {
	waiting := listOf(endpoint, ListWaiting)
	waiting.To = t.ahead(endpoint, 0).From
	ids, err := t.idsOf(nil, t.endedLeases(endpoint), MaxAcked)
	if err == nil {
		ids, err = t.idsOf(ids, []rows.Range{waiting}, len(ids)+limit)
	}
	if ms, _ := IDTime(newest); err == nil && int64(ms) > t.Now().UnixMilli() {
		ids, err = t.idsOf(ids, []rows.Range{t.ahead(endpoint, limit)}, len(ids)+limit)
	}
	if err != nil {
		return nil, err
	}
	found, err = t.readPulled(ids)
	slices.SortStableFunc(found, func(a, b pulled) int {
		return CursorOf(a.DueAt, a.ID).Compare(CursorOf(b.DueAt, b.ID))
	})
	return found, err
}

// readPulled reads deliveries by their ids; those that are not there are left out.
func (t Tx) readPulled(ids []string) (found []pulled, err error) {
	found = make([]pulled, 0, len(ids))
	err = t.Gets(&deliveries.Kind, keysOf(ids), func(i int, value []byte) error {
		found = append(found, pulled{was: value})
		r := &found[len(found)-1].deliveryRow
		err := rows.DecodeTo(r, value, func(c *rows.Codec, r *deliveryRow) {
			r.Body = c.Raw()
			deliveryFields(c, &r.Delivery)
		})
		r.complete(ids[i])
		return stored(err)
	})
	return found, err
}

// ownDeliveries reads deliveries of an endpoint, each once, in order of id. badRequest,
// which names the field: one is not the endpoint's.
func (t Tx) ownDeliveries(field string, e *Endpoint, ids []string) ([]pulled, error) {
	if len(ids) > MaxAcked {
		return nil, Invalid(field, "has %d deliveries", len(ids)).Advise("at most %d are allowed", MaxAcked)
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	found, err := t.readPulled(ids)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if i >= len(found) || found[i].ID != id || found[i].EndpointNumber != e.Number {
			return nil, Invalid(field, "%.64q is not a delivery of this endpoint", id)
		}
	}
	return found, nil
}

// AckDeliveries acknowledges deliveries of an endpoint, all or none, leased or not: what was
// acknowledged before stays so. badRequest: one is none of the endpoint's.
func AckDeliveries(tx Tx, key *APIKey, endpointID string, ids []string) error {
	e, err := FindPull(tx, key, endpointID)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return errNoneNamed("ids")
	}
	found, err := tx.ownDeliveries("ids", &e, ids)
	if err != nil {
		return err
	}
	return acknowledgeAll(tx, &e, found, key.ID)
}

func errNoneNamed(field string) error { return Invalid(field, "must name a delivery at least") }

// acknowledgeAll records that a consumer has taken deliveries.
func acknowledgeAll(tx Tx, e *Endpoint, found []pulled, keyID string) error {
	return recordPulls(tx, e, found, Attempt{EndedAt: tx.Now(), KeyID: keyID}, nil)
}

// recordPulls records what became of deliveries that were pulled, those apart that were
// acknowledged before. What is read and counted
// for each attempt that is sent is so for all of them at once.
func recordPulls(tx Tx, e *Endpoint, found []pulled, a Attempt, schedule []time.Duration) error {
	var counts DeliveryCounts
	recorded := false
	for i := range found {
		d := &found[i]
		if d.State == StateAcknowledged {
			continue
		}
		recorded = true
		counts.Add(d.recordPull(a, schedule))
		if err := tx.replaceDelivery(&d.deliveryRow, d.was); err != nil {
			return err
		}
	}
	if !recorded {
		return nil
	}
	if a.Acknowledged() {
		if err := noteAcknowledged(tx, e.Number, toMillisecond(a.EndedAt)); err != nil {
			return err
		}
	}
	return tx.AddDeliveryCounts(e.OrgID, e.Number, a.EndedAt, counts)
}

// recordPull is what became of a delivery that was pulled. One that is leased no longer
// began with the last lease.
func (d *Delivery) recordPull(a Attempt, schedule []time.Duration) DeliveryCounts {
	switch last := d.LastAttempt(); {
	case d.State == StateLeased:
		a.StartedAt = d.Lease().GrantedAt
	case last != nil:
		a.StartedAt = last.StartedAt
	default:
		a.StartedAt = a.EndedAt
	}
	d.Leases = nil
	return d.record(a, schedule)
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

// withBodies returns deliveries with their bodies, those of events apart read at once.
func (t Tx) withBodies(found []pulled) ([]Claim, error) {
	claims := make([]Claim, len(found))
	var ids []string
	var at []int
	for i := range found {
		claims[i] = Claim{found[i].Delivery, bytes.Clone(found[i].Body)}
		if len(found[i].Body) == 0 {
			ids, at = append(ids, found[i].EventID), append(at, i)
		}
	}
	there := 0
	err := t.Gets(&events.Kind, keysOf(ids), func(i int, value []byte) (err error) {
		there++
		claims[at[i]].Body, err = EventBody(value)
		return err
	})
	if err == nil && there < len(ids) {
		err = Errorf(CodeNotFound, "There is no such event.")
	}
	return claims, err
}

// notePulled writes who pulls from an endpoint, unless that is known.
func notePulled(tx Tx, endpoint uint64, keyID string) error {
	p, err := tx.LastPulled(endpoint)
	if err != nil || !p.Outdated(tx.Now()) {
		return err
	}
	p.At, p.KeyID = tx.Now(), keyID
	return tx.PutLastPulled(p)
}

// placeInOrder is when a delivery to be pulled is due: by the time in its id, if that is
// later than its event. Ids rise with commits, even where the clocks of nodes differ.
func placeInOrder(id string, createdAt time.Time) time.Time {
	ms, ok := IDTime(id)
	if at := time.UnixMilli(int64(ms)).UTC(); ok && at.After(createdAt) {
		return at
	}
	return createdAt
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
