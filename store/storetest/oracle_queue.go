package storetest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

// waiting lists the deliveries that wait for an attempt at an endpoint, in the
// order in which they are due. A disabled endpoint has none.
func (o *oracle) waiting(e store.Endpoint) (list []store.Delivery) {
	for _, d := range o.deliveries {
		if d.EndpointNumber == e.Number && d.State.Waiting() && !e.Disabled() {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b store.Delivery) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt), strings.Compare(a.ID, b.ID))
	})
	return list
}

// eachDue is what EachDue tells.
func (o *oracle) eachDue() map[uint64]time.Time {
	due := map[uint64]time.Time{}
	for _, e := range o.endpoints {
		if list := o.waiting(e); len(list) > 0 {
			due[e.Number] = list[0].DueAt
		}
	}
	return due
}

// claim is what Claim returns while the claimed deliveries have not been
// released; it claims nothing.
func (o *oracle) claim(e store.Endpoint, now time.Time, limit int, claimed map[string]bool) store.Claims {
	claims := store.Claims{Endpoint: e}
	for _, d := range o.waiting(e) {
		switch {
		case claimed[d.ID]:
		case d.DueAt.After(now), len(claims.Claims) == limit:
			claims.Next = d.DueAt
			return claims
		default:
			claims.Claims = append(claims.Claims, store.Claim{Delivery: d, Body: o.events[d.EventID].Body})
		}
	}
	return claims
}

// access shows the Access of each key.
func (o *oracle) access(n *names) string {
	var b strings.Builder
	for _, key := range n.keys {
		line(&b, key)(store.LoadAccess(o, key))
	}
	return b.String()
}
