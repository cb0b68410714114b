package storetest

import (
	"cmp"
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
// order in which they are due. One that is disabled or pulled has none.
func (o *oracle) waiting(e store.Endpoint) (list []store.Delivery) {
	for _, d := range o.deliveries() {
		if d.EndpointNumber == e.Number && d.State.Waiting() && !e.Disabled() && !e.Pull() {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b store.Delivery) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt), strings.Compare(a.ID, b.ID))
	})
	return list
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
		for _, number := range []uint64{number, store.FirstPull | number} { // of either kind
			if e, err := o.EndpointByNumber(number); err == nil {
				list = append(list, e)
			}
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
