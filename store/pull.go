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

// recordPulls records what became of deliveries that were pulled; those that were
// acknowledged before stay so. What is read and counted for each attempt that is sent is so
// for all of them at once.
func recordPulls(tx Tx, e *Endpoint, found []pulled, a Attempt, schedule []time.Duration) error {
	var counts DeliveryCounts
	var first *Delivery // that was recorded, and is no signal unless all are
	for i := range found {
		d := &found[i]
		if d.State == StateAcknowledged {
			continue
		}
		if first == nil || IsSignal(first.EventType) {
			first = &d.Delivery
		}
		counts.Add(d.recordPull(a, schedule))
		if err := tx.replaceDelivery(&d.deliveryRow, d.was); err != nil {
			return err
		}
	}
	if first == nil {
		return nil
	}
	if err := noteOutcome(tx, first, &a); err != nil {
		return err
	}
	for i := range found {
		if found[i].State == StateFailed {
			if err := signalFailed(tx, &found[i].Delivery); err != nil {
				return err
			}
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
	return d.record(a, schedule)
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
