package store

import (
	"context"
	"slices"
	"time"

	"teamdata/store/rows"
)

// CountWaiting counts the deliveries waiting for an endpoint, up to most.
func (t Tx) CountWaiting(e Endpoint, most int) (w Waiting, err error) {
	err = t.countWaiting(&w, []Busy{{Endpoint: e}}, most)
	return w, err
}

// countWaiting adds what waits for some endpoints to w, up to most.
func (t Tx) countWaiting(w *Waiting, some []Busy, most int) error {
	if w.Total() > 0 && w.Total() >= most {
		w.Capped = w.Capped || len(some) > 0
		return nil
	}
	ranges := make([]rows.Range, 0, 2*len(some))
	for i := range some {
		due := listOf(some[i].Number, ListWaiting)
		due.Limit = oneMore(most - w.Total())
		later := due
		due.To = placeKey(nil, some[i].Number, ListWaiting, Cursor{Ms: uint64(max(t.Now().UnixMilli(), 0)) + 1})
		later.From = due.To
		ranges = append(ranges, due, later)
	}
	counts, err := t.Count(&deliveries.Kind, ranges)
	for i := 0; i < len(counts); i += 2 {
		w.add(&some[i/2].Endpoint, counts[i], counts[i+1], most)
	}
	return err
}

// endpointsAtOnce is how many endpoints are looked at in one round trip: so many that few are
// needed, and so few that a look which has enough ends soon.
const endpointsAtOnce = 100

// eachNumbers calls fn with some numbers at a time that the keys of an index are, or of
// rows, until it returns false.
func (t Tx) eachNumbers(k *rows.Kind, index int, fn func(numbers []uint64) (more bool, err error)) error {
	r := rows.Range{Index: index, Limit: endpointsAtOnce}
	for {
		var numbers []uint64
		err := t.Scan(k, r, func(item rows.Item) bool {
			numbers = append(numbers, rows.ReadNumber(item.Key))
			return true
		})
		if err != nil || len(numbers) == 0 {
			return stored(err)
		}
		if more, err := fn(numbers); err != nil || !more || len(numbers) < endpointsAtOnce {
			return err
		}
		r.From = append(rows.Number(nil, numbers[len(numbers)-1]), 0)
	}
}

// idsOf adds the ids of up to limit deliveries in some ranges to others.
func (t Tx) idsOf(ids []string, ranges []rows.Range, limit int) ([]string, error) {
	err := t.Ranges(&deliveries.Kind, ranges, limit-len(ids), func(_ int, item rows.Item) bool {
		ids = append(ids, string(item.Key[placeSize:]))
		return true
	})
	return ids, err
}

// FinishedBefore returns the ids of up to limit deliveries, of any
// endpoint, that were acknowledged or failed before a time. It reads the start of each
// endpoint's two finished lists, also of removed ones.
func (t Tx) FinishedBefore(before time.Time, limit int) (ids []string, err error) {
	oldest := func(numbers []uint64) (bool, error) {
		var ranges []rows.Range
		for _, number := range numbers {
			ranges = append(ranges, oldestOf(number, ListAcknowledged, before), oldestOf(number, ListFailed, before))
		}
		ids, err = t.idsOf(ids, ranges, limit)
		return len(ids) < limit, err
	}
	err = t.eachNumbers(&endpoints.Kind, endpointNumbers, oldest)
	if err == nil && len(ids) < limit {
		err = t.eachNumbers(&removedEndpoints.Kind, rows.ByKey, oldest)
	}
	return ids, err
}

// oldestOf is the range of an endpoint's list before a time.
func oldestOf(endpoint uint64, list DeliveryList, before time.Time) rows.Range {
	r := listOf(endpoint, list)
	r.To = placeKey(nil, endpoint, list, Cursor{Ms: uint64(max(before.UnixMilli(), 0))}) // a clock may be at 1970
	return r
}

// HeldBefore returns the ids of up to limit deliveries that disabled endpoints
// have held since before a time, see [Endpoint.HeldSince], or that wait since then to be
// pulled.
func (t Tx) HeldBefore(before time.Time, limit int) (ids []string, err error) {
	err = t.eachWaiting(context.Background(), func(found []Busy) (bool, error) {
		var ranges []rows.Range
		for _, b := range found {
			if (b.Pull() || b.Disabled() && b.DisabledAt.Before(before)) && b.DueAt.Before(before) {
				ranges = append(ranges, oldestOf(b.Number, ListWaiting, before))
			}
		}
		if len(ranges) > 0 {
			ids, err = t.idsOf(ids, ranges, limit)
		}
		return len(ids) < limit, err
	})
	return ids, err
}

// Busy is an endpoint that deliveries wait for, with its secrets sealed.
type Busy struct {
	Endpoint
	DueAt time.Time // of the earliest
}

// EachWaiting calls fn for each endpoint that deliveries wait for, in order of number.
// Removed ones are left out.
func (t Tx) EachWaiting(ctx context.Context, fn func(Busy)) error {
	return t.eachWaiting(ctx, func(some []Busy) (bool, error) {
		for _, b := range some {
			fn(b)
		}
		return true, nil
	})
}

func (t Tx) eachWaiting(ctx context.Context, fn func([]Busy) (more bool, err error)) error {
	return t.eachNumbers(&endpoints.Kind, endpointNumbers, func(numbers []uint64) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		ranges, firsts := make([]rows.Range, len(numbers)), []time.Time(nil)
		for i, number := range numbers {
			ranges[i] = listOf(number, ListWaiting)
			ranges[i].Limit = 1
		}
		var of []rows.Range
		err := t.Ranges(&deliveries.Kind, ranges, unlimited, func(i int, item rows.Item) bool {
			number := string(rows.Number(nil, numbers[i]))
			of = append(of, rows.Range{Index: endpointNumbers, Bounds: rows.Only(number), Records: true})
			firsts = append(firsts, DueAt(item.Key))
			return true
		})
		if err != nil || len(of) == 0 {
			return err == nil, stored(err)
		}
		var found []Busy
		var damaged error
		err = t.Ranges(&endpoints.Kind, of, unlimited, func(i int, item rows.Item) bool {
			var e Endpoint
			e, damaged = ReadEndpoint(endpoints.Indexes[endpointNumbers].Record(nil, item.Key, item.Value), item.Record)
			found = append(found, Busy{e, firsts[i]})
			return damaged == nil
		})
		if err == nil {
			err = damaged
		}
		if err != nil {
			return false, stored(err)
		}
		return fn(found)
	})
}

// WalkWaiting offers the positions of deliveries that wait for an endpoint, earliest first,
// until offer returns false. A disabled, pulled or removed endpoint offers none. It is for an
// engine whose Scan reads no further than it is asked for.
func (t Tx) WalkWaiting(endpoint uint64, offer func(Cursor) bool) (Endpoint, error) {
	e, err := t.EndpointByNumber(endpoint)
	if err != nil || e.Disabled() || e.Pull() {
		return e, unlessNotFound(err)
	}
	r := listOf(endpoint, ListWaiting)
	err = t.Scan(&deliveries.Kind, r, func(item rows.Item) bool { return offer(PositionOf(item.Key)) })
	return e, stored(err)
}

// LoadClaims loads deliveries that were offered, with their bodies, in their order.
func (t Tx) LoadClaims(at []Cursor) ([]Claim, error) {
	claims := make([]Claim, 0, len(at))
	for _, at := range at {
		value, err := t.deliveryValue(at.ID)
		if err != nil {
			return nil, err
		}
		d, body, err := ReadDelivery([]byte(at.ID), value)
		if err == nil && len(body) == 0 {
			var e Event
			e, err = find(events, t, t.Text(d.EventID))
			body = e.Body
		} else {
			body = slices.Clone(body)
		}
		if err != nil {
			return nil, err
		}
		claims = append(claims, Claim{Delivery: d, Body: body})
	}
	return claims, nil
}

// firstDue returns when the earliest delivery that waits for an endpoint is due, if there
// is one.
func (t Tx) firstDue(endpoint uint64) (at time.Time, waits bool, err error) {
	r := listOf(endpoint, ListWaiting)
	r.Limit = 1
	err = t.Scan(&deliveries.Kind, r, func(item rows.Item) bool {
		at, waits = DueAt(item.Key), true
		return false
	})
	return at, waits, stored(err)
}
