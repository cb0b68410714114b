package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// deliveryKind are the rows of deliveries.
var deliveryKind = rows.Kinds()[slices.IndexFunc(rows.Kinds(), func(k *rows.Kind) bool { return k.Name == "deliveries" })]

// deliveries are all that there are, in the order of their ids.
func (o *oracle) deliveries() (list []store.Delivery) {
	err := o.Scan(deliveryKind, rows.Range{Index: rows.ByKey}, func(item rows.Item) bool {
		d, _, err := store.ReadDelivery(item.Key, item.Value)
		if err != nil {
			panic(err)
		}
		list = append(list, d)
		return true
	})
	if err != nil {
		panic(err)
	}
	return list
}

// waiting lists the deliveries that wait for an attempt at an endpoint, in the
// order in which they are due. A disabled endpoint has none.
func (o *oracle) waiting(e store.Endpoint) (list []store.Delivery) {
	for _, d := range o.deliveries() {
		if d.EndpointNumber == e.Number && d.State.Waiting() && !e.Disabled() {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b store.Delivery) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt), strings.Compare(a.ID, b.ID))
	})
	return list
}

// DeliveryPage sorts all that is in the list: the waiting list forwards, the
// others backwards.
func (o *oracle) DeliveryPage(endpoint uint64, list store.DeliveryList, after store.Cursor, limit int) (page []store.Delivery, more bool, err error) {
	direction := -1
	if list == store.ListWaiting {
		direction = 1
	}
	for _, d := range o.deliveries() {
		in, at := d.Position()
		behind := after == (store.Cursor{}) || at.Compare(after)*direction > 0
		if d.EndpointNumber == endpoint && in == list && behind {
			page = append(page, d)
		}
	}
	slices.SortFunc(page, func(a, b store.Delivery) int {
		_, x := a.Position()
		_, y := b.Position()
		return x.Compare(y) * direction
	})
	if len(page) > limit {
		return page[:limit], true, nil
	}
	return page, false, nil
}

// LatestDeliveries sorts all.
func (o *oracle) LatestDeliveries(endpoints []uint64, lists []store.DeliveryList, before store.Cursor, limit int) (page []store.Delivery, err error) {
	for _, d := range o.deliveries() {
		behind := before == (store.Cursor{}) || d.Latest().Compare(before) < 0
		if slices.Contains(endpoints, d.EndpointNumber) && inAny(lists, &d) && behind {
			page = append(page, d)
		}
	}
	slices.SortFunc(page, func(a, b store.Delivery) int { return b.Latest().Compare(a.Latest()) })
	return page[:min(len(page), limit)], nil
}

// inAny reports whether a delivery is in any of some lists.
func inAny(lists []store.DeliveryList, d *store.Delivery) bool {
	list, _ := d.Position()
	_, attempted := d.Attempted()
	return slices.Contains(lists, list) || attempted && slices.Contains(lists, store.ListAttempted)
}

func (o *oracle) FinishedBefore(t time.Time, limit int) (ids []string, err error) {
	for _, d := range o.deliveries() {
		if !d.State.Waiting() && d.FinishedAt.Before(t) {
			ids = append(ids, d.ID)
		}
	}
	slices.Sort(ids)
	return ids[:min(len(ids), limit)], nil
}

func (o *oracle) HeldBefore(t time.Time, limit int) (ids []string, err error) {
	for _, d := range o.deliveries() {
		e := o.byNumber(d.EndpointNumber)
		if d.State.Waiting() && e.Disabled() && e.HeldSince(d.DueAt).Before(t) {
			ids = append(ids, d.ID)
		}
	}
	slices.Sort(ids)
	return ids[:min(len(ids), limit)], nil
}

// eachDue is what EachDue reports.
func (o *oracle) eachDue() map[uint64]time.Time {
	due := map[uint64]time.Time{}
	for _, e := range o.endpoints() {
		if list := o.waiting(e); len(list) > 0 {
			due[e.Number] = list[0].DueAt
		}
	}
	return due
}

// backlog is what Backlog counts.
func (o *oracle) backlog() (b store.Backlog) {
	for _, e := range o.endpoints() {
		waiting := false
		for _, d := range o.deliveries() {
			if d.EndpointNumber == e.Number && d.State.Waiting() {
				waiting = true
				if held := e.HeldSince(d.DueAt); e.Disabled() && (b.HeldAt.IsZero() || held.Before(b.HeldAt)) {
					b.HeldAt = held
				}
				countOne(&b.Waiting, &e, &d, o.now, store.MaxCountedDeliveries)
			}
		}
		if waiting && !e.Disabled() {
			b.Busy++
		}
	}
	for _, due := range o.eachDue() {
		if b.DueAt.IsZero() || due.Before(b.DueAt) {
			b.DueAt = due
		}
	}
	mails, err := o.Mails("", unlimited)
	if err != nil {
		panic(err)
	}
	if b.Mails = len(mails); b.Mails > 0 {
		b.MailsAt = mails[0].CreatedAt
	}
	return b
}

// countOne counts one more delivery that waits, up to most of all.
func countOne(w *store.Waiting, e *store.Endpoint, d *store.Delivery, now time.Time, most int) {
	switch {
	case w.Total() >= most:
		w.Capped = true
	case e.Disabled():
		w.Held++
	case d.DueAt.After(now):
		w.Later++
	default:
		w.Due++
	}
}

// claim is what Claim returns while the claimed deliveries have not been
// released; it claims nothing.
func (o *oracle) claim(endpoint uint64, now time.Time, limit int, claimed map[string]store.Delivery) store.Claims {
	e := o.byNumber(endpoint)
	claims := store.Claims{Endpoint: e}
	for _, d := range o.waiting(e) {
		switch was, taken := claimed[d.ID]; {
		case taken:
			claims.Again = claims.Again || d.Attempts != was.Attempts || !d.DueAt.Equal(was.DueAt)
		case d.DueAt.After(now), len(claims.Claims) == limit:
			claims.Next = d.DueAt
			return claims
		default:
			event, err := o.Event(d.EventID)
			if err != nil {
				panic(err)
			}
			claims.Claims = append(claims.Claims, store.Claim{Delivery: d, Body: event.Body})
		}
	}
	return claims
}

// byNumber is the endpoint of a number; the zero Endpoint, which has no
// deliveries, if it was removed.
func (o *oracle) byNumber(number uint64) store.Endpoint {
	e, _ := o.EndpointByNumber(number)
	return e
}

// endpoints are those of all orgs, in the order of their numbers.
func (o *oracle) endpoints() (list []store.Endpoint) {
	for _, number := range slices.Sorted(maps.Keys(o.given)) {
		if e, err := o.EndpointByNumber(number); err == nil {
			list = append(list, e)
		}
	}
	return list
}

// access shows the Access of each key.
func (o *oracle) access(n Names) string {
	var b strings.Builder
	for _, key := range n["key"] {
		line(&b, key)(store.LoadAccess(o.Tx, key))
	}
	return b.String()
}

// plainly holds what is read of deliveries by their indexes to what the oracle finds
// without any.
func (h *history) plainly() {
	o, now := h.oracle, h.Clock.Now()
	same := func(what string, got, want []store.Delivery, errors ...error) {
		h.Equal(what, fmt.Sprint(got, errors), fmt.Sprint(want, make([]error, len(errors))))
	}
	for _, number := range slices.Sorted(maps.Keys(o.given)) {
		for _, list := range store.DeliveryLists {
			got, _, err := o.Tx.DeliveryPage(number, list, store.Cursor{}, unlimited)
			want, _, _ := o.DeliveryPage(number, list, store.Cursor{}, unlimited)
			same(fmt.Sprintf("list %d of %d", list, number), got, want, err)
		}
		for _, lists := range [][]store.DeliveryList{{store.ListWaiting}, {store.ListAttempted, store.ListFailed}, store.DeliveryLists} {
			numbers, before := []uint64{number, number + 1}, store.CursorOf(now, "")
			got, err := o.Tx.LatestDeliveries(numbers, lists, before, 7)
			want, _ := o.LatestDeliveries(numbers, lists, before, 7)
			same(fmt.Sprintf("latest in %v of %d", lists, numbers), got, want, err)
		}
		e := o.byNumber(number)
		got, err := o.Tx.CountWaiting(e, 2)
		want, _ := o.CountWaiting(e, 2)
		h.Equal(fmt.Sprint("waiting for ", number), fmt.Sprint(got, err), fmt.Sprint(want, nil))
	}
	for what, find := range map[string][2]func(time.Time, int) ([]string, error){
		"finished": {o.Tx.FinishedBefore, o.FinishedBefore}, "held": {o.Tx.HeldBefore, o.HeldBefore},
	} {
		got, err := find[0](now.Add(-time.Hour), unlimited)
		want, _ := find[1](now.Add(-time.Hour), unlimited)
		slices.Sort(got)
		h.Equal(what, fmt.Sprint(got, err), fmt.Sprint(want, nil))
	}
}
