package store

import (
	"strings"
	"time"

	"teamdata/store/rows"
)

// deliveryRow is a delivery as it is kept: with the body of its event, if they share the
// row. The event's id is left out if it is the one that the delivery's id says.
type deliveryRow struct {
	Body []byte // as in `events`; empty: the event has a record there
	Delivery
}

var deliveries = rows.Define(&rows.Table[deliveryRow]{
	Kind: rows.Kind{Name: "deliveries", Noun: "delivery"},
	Key:  func(dst []byte, r *deliveryRow) []byte { return append(dst, r.ID...) },
	Fields: func(c *rows.Codec, r *deliveryRow) {
		c.Bytes(&r.Body)
		deliveryFields(c, &r.Delivery)
	},
	Complete: func(key []byte, r *deliveryRow) { r.complete(string(key)) },
	Head:     deliveryPlace,
	Owner:    func(r *deliveryRow) rows.Owner { return rows.Owner{Org: r.OrgID, Number: r.EndpointNumber} },
	Only:     func(r *deliveryRow) deliveryRow { return deliveryRow{Delivery: Delivery{ID: r.ID, OrgID: r.OrgID}} },
	By: []rows.By[deliveryRow]{
		byPlace: {Index: rows.Index{Name: "deliveryLists", As: "place", Owner: rows.OfNumber, Record: behindPlace},
			Key: func(dst []byte, r *deliveryRow) []byte {
				list, at := r.Position()
				return placeKey(dst, r.EndpointNumber, list, at)
			},
			Value: func(dst []byte, r *deliveryRow) []byte {
				if !r.State.Waiting() {
					return dst
				}
				if at, ok := r.Attempted(); ok {
					return rows.Number(dst, at.Ms)
				}
				return nil
			}},
		byAttempt: {Index: rows.Index{Name: "deliveryLists", As: "attempted", Owner: rows.OfNumber, Record: behindPlace},
			Key: func(dst []byte, r *deliveryRow) []byte {
				at, ok := r.Attempted()
				if !ok {
					return nil
				}
				return placeKey(dst, r.EndpointNumber, ListAttempted, at)
			}},
	},
})

// The indexes of deliveries, whose entries stand together: endpoint number, list, ms, id.
const (
	byPlace   = iota // each in its list. Of those that wait the value is when they were attempted last, in ms; bare: they weren't
	byAttempt        // those in ListAttempted
)

func init() { deliveries.Checks = checkDelivery }

func deliveryFields(c *rows.Codec, d *Delivery) {
	deliveryHead(c, d)
	c.Text(&d.EventType)
	rows.List(c, &d.History, func(c *rows.Codec, a *Attempt) { rows.Inner(c, attemptFields, a) })
	rows.List(c, &d.Leases, func(c *rows.Codec, l *Lease) { rows.Inner(c, leaseFields, l) })
}

func leaseFields(c *rows.Codec, l *Lease) {
	c.Text(&l.ID)
	c.Text(&l.KeyID)
	c.Time(&l.GrantedAt)
	c.Time(&l.EndsAt)
}

func deliveryHead(c *rows.Codec, d *Delivery) {
	event := d.EventID
	if !c.Reading() && d.implies(event) {
		d.EventID = ""
	}
	if c.Text(&d.EventID); !c.Reading() {
		d.EventID = event
	}
	c.Text(&d.OrgID)
	c.Text(&d.EndpointID)
	c.Number(&d.EndpointNumber)
	rows.Small(c, &d.State)
	c.Int(&d.Attempts)
	c.Time(&d.CreatedAt)
	c.Time(&d.FirstAttemptAt)
	c.Time(&d.DueAt)
	c.Time(&d.FinishedAt)
}

func attemptFields(c *rows.Codec, a *Attempt) {
	c.Time(&a.StartedAt)
	c.After(a.StartedAt, &a.EndedAt)
	c.Int(&a.Status)
	c.Flag(&a.TimedOut)
	c.Text(&a.Reason)
	c.Bytes(&a.Answer)
	c.Time(&a.NextAt)
	c.Text(&a.KeyID)
}

// deliveryPlace reads what the keys of a delivery's entries are made of: of its attempts
// when the last one ended, if it waits, and its lease.
func deliveryPlace(c *rows.Codec, r *deliveryRow) {
	c.Raw()
	if deliveryHead(c, &r.Delivery); r.State.Finished() {
		return
	}
	var attempts uint64
	c.Raw()
	for c.Number(&attempts); attempts > 1; attempts-- {
		c.Raw()
	}
	if attempts == 1 {
		last := rows.HeadOf(c.Raw())
		r.History = make([]Attempt, 1)
		last.Time(&r.History[0].StartedAt)
		last.After(r.History[0].StartedAt, &r.History[0].EndedAt)
	}
	rows.List(c, &r.Leases, func(c *rows.Codec, l *Lease) { rows.Inner(c, leaseFields, l) })
}

// impliedEvent is the id of the event whose [FirstDelivery] has an id.
func impliedEvent(deliveryID string) string {
	return PrefixEvent + strings.TrimPrefix(deliveryID, PrefixDelivery)
}

// implies reports whether an event is the one that the delivery's id says.
func (d *Delivery) implies(eventID string) bool {
	rest, of := strings.CutPrefix(eventID, PrefixEvent)
	return of && rest == strings.TrimPrefix(d.ID, PrefixDelivery)
}

func (d *Delivery) complete(id string) {
	if d.ID = id; d.EventID == "" {
		d.EventID = impliedEvent(id)
	}
}

// placeKey appends the key of a delivery's entry in a list.
func placeKey(dst []byte, endpoint uint64, list DeliveryList, at Cursor) []byte {
	return append(rows.Number(append(rows.Number(dst, endpoint), byte(list)), at.Ms), at.ID...)
}

// placeSize is the size of what comes before the id in such a key.
const placeSize = 8 + 1 + 8

func behindPlace(dst, key, _ []byte) []byte { return append(dst, key[placeSize:]...) }

// PositionOf is the position that a key of the index place says.
func PositionOf(key []byte) Cursor {
	return Cursor{Ms: rows.ReadNumber(key[9:]), ID: string(key[placeSize:])}
}

// DueAt is the time that a key of a waiting list says.
func DueAt(key []byte) time.Time { return time.UnixMilli(int64(rows.ReadNumber(key[9:]))).UTC() }

// listOf is the range of one list of an endpoint.
func listOf(endpoint uint64, list DeliveryList) rows.Range {
	r := rows.Range{Bounds: rows.Within(append(rows.Number(nil, endpoint), byte(list)))}
	if list == ListAttempted {
		r.Index = byAttempt
	}
	return r
}

// WaitingOf are the bounds of what waits for an endpoint, in the index place.
func WaitingOf(endpoint uint64) rows.Bounds { return listOf(endpoint, ListWaiting).Bounds }

// ReadDelivery reads a delivery, and its event's body if they share the row, without
// copying that.
func ReadDelivery(key, value []byte) (d Delivery, body []byte, err error) {
	d, err = rows.Decode(value, func(c *rows.Codec, d *Delivery) {
		body = c.Raw()
		deliveryFields(c, d)
	})
	d.complete(string(key))
	return d, body, stored(err)
}

// deliveryValue reads the stored value of a delivery. notFound: it doesn't exist.
func (t Tx) deliveryValue(id string) ([]byte, error) {
	value, err := t.Get(&deliveries.Kind, t.Text(id))
	if err == nil && value == nil {
		err = rows.ErrNone
	}
	return value, missing(deliveries, err)
}

func (t Tx) Delivery(id string) (Delivery, error) {
	value, err := t.deliveryValue(id)
	if err != nil {
		return Delivery{}, err
	}
	d, _, err := ReadDelivery([]byte(id), value)
	return d, err
}

func (t Tx) insertDelivery(r *deliveryRow) error {
	if r.State.Waiting() {
		t.Changed().Due(r.EndpointNumber, r.readyAt(t.Now()))
	}
	return deliveries.Insert(t.Tx, r)
}

// PutDelivery changes what attempts and replays change of a delivery.
func (t Tx) PutDelivery(d Delivery) error {
	was, err := t.deliveryValue(d.ID)
	if err != nil {
		return err
	}
	head := rows.HeadOf(was)
	r := &deliveryRow{head.Raw(), d}
	if err := head.Err(); err != nil {
		return stored(err)
	}
	return t.replaceDelivery(r, was)
}

// replaceDelivery is PutDelivery of one whose stored value is known.
func (t Tx) replaceDelivery(r *deliveryRow, was []byte) error {
	if c := t.Changed(); r.State.Waiting() {
		c.Due(r.EndpointNumber, r.readyAt(t.Now()))
		if !IsPull(r.EndpointNumber) { // which nobody claims
			c.Again(r.ID)
		}
	}
	return stored(deliveries.Replace(t.Tx, r, was))
}

// DeleteDelivery deletes a delivery, and with an event's last delivery the
// event.
func (t Tx) DeleteDelivery(id string) error {
	was, err := t.deliveryValue(id)
	if err != nil {
		return err
	}
	key := []byte(id)
	d, body, err := ReadDelivery(key, was)
	if err != nil {
		return err
	}
	if err := deliveries.Remove(t.Tx, key, was); err != nil || len(body) > 0 {
		return stored(err)
	}
	return t.dropEvent(d.EventID)
}

// ReadToDelete reads ahead what deleting some deliveries reads, of all of them at once:
// their events, and the other deliveries of those.
func (t Tx) ReadToDelete(ids []string) error {
	var ofEvents, others [][]byte
	err := t.Gets(&deliveries.Kind, keysOf(ids), func(i int, value []byte) error {
		d, body, err := ReadDelivery([]byte(ids[i]), value)
		if err == nil && len(body) == 0 {
			ofEvents = append(ofEvents, []byte(d.EventID))
		}
		return err
	})
	if err == nil {
		err = t.Gets(&events.Kind, ofEvents, func(i int, value []byte) error {
			e, err := events.Read(ofEvents[i], value)
			others = append(others, keysOf(e.Deliveries)...)
			return stored(err)
		})
	}
	if err != nil {
		return err
	}
	return t.Gets(&deliveries.Kind, others, func(int, []byte) error { return nil })
}

func keysOf(ids []string) [][]byte {
	keys := make([][]byte, len(ids))
	for i, id := range ids {
		keys[i] = []byte(id)
	}
	return keys
}

// readDeliveries reads those of a range, until limit; more: there are more of them.
func (t Tx) readDeliveries(scan func(fn func(rows.Item) bool) error, limit int) (page []Delivery, more bool, err error) {
	var key []byte
	failed := scan(func(item rows.Item) bool {
		if more = len(page) == limit; more {
			return false
		}
		var d Delivery
		key = behindPlace(key[:0], item.Key, nil)
		if d, _, err = ReadDelivery(key, item.Record); err == nil {
			page = append(page, d)
		}
		return err == nil
	})
	if failed != nil {
		err = failed
	}
	if err != nil {
		return nil, false, stored(err)
	}
	return page, more, nil
}

// DeliveryPage reads up to limit deliveries of an endpoint's list after a
// position, in the list's order, and reports whether more follow. The zero
// Cursor starts at the first.
func (t Tx) DeliveryPage(endpoint uint64, list DeliveryList, after Cursor, limit int) (page []Delivery, more bool, err error) {
	r := listOf(endpoint, list)
	switch {
	case list != ListWaiting:
		r.Back = true
		if !after.IsZero() {
			r.To = placeKey(nil, endpoint, list, after)
		}
	case !after.IsZero():
		r.From = append(placeKey(nil, endpoint, list, after), 0)
	}
	r.Records, r.Limit = true, oneMore(limit)
	return t.readDeliveries(func(fn func(rows.Item) bool) error { return t.Scan(&deliveries.Kind, r, fn) }, limit)
}

// LatestDeliveries reads up to limit deliveries of some endpoints that are in some
// lists, newest first by [Delivery.Latest], before a position. The zero Cursor starts
// at the newest. Lists are of DeliveryLists, or ListAttempted in place of ListWaiting. It
// merges them; those that wait are in two parts, because the list by due time has only those
// that were not attempted where they are looked for.
func (t Tx) LatestDeliveries(endpoints []uint64, lists []DeliveryList, before Cursor, limit int) ([]Delivery, error) {
	var ranges []rows.Range
	for _, endpoint := range endpoints {
		for _, list := range lists {
			parts := []DeliveryList{list}
			if list == ListWaiting {
				parts = append(parts, ListAttempted)
			}
			for _, part := range parts {
				r := listOf(endpoint, part)
				if !before.IsZero() {
					r.To = placeKey(nil, endpoint, part, before)
				}
				r.Back, r.Records, r.Bare = true, true, part == ListWaiting
				ranges = append(ranges, r)
			}
		}
	}
	page, _, err := t.readDeliveries(func(fn func(rows.Item) bool) error {
		return t.Merge(&deliveries.Kind, ranges, placeSize-8, limit, func(_ int, item rows.Item) bool { return fn(item) })
	}, limit)
	return page, err
}

// checkDelivery checks that a delivery has its event, which names it, or holds one that is
// its own, that its endpoint exists, or is one of the removed, and that it has a lease if it
// is leased.
func checkDelivery(c *rows.Checker, key []byte, r *deliveryRow) {
	checkNumber(c, "deliveries", r.EndpointNumber)
	if leases := len(r.Leases); leases > 1 || (leases == 1) != (r.State == StateLeased) {
		c.Fault("deliveries %q: it is %s, with %d leases", key, r.State, leases)
	}
	if len(r.Body) > 0 {
		if !r.isFirst() {
			c.Fault("deliveries %q: must not hold the event %q", key, r.EventID)
		}
		return
	}
	id, of := r.ID, r.EventID
	c.Look(&events.Kind, []byte(of), func(value []byte) {
		if value == nil {
			c.Fault("deliveries %q: its event %q is missing", id, of)
		} else if e, err := events.Read(nil, value); err == nil && !e.names(id) {
			c.Fault("deliveries %q: its event %q does not name it", id, of)
		}
	})
}
