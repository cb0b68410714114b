package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

// pulled are the endpoints that are pulled, in the order of their numbers.
func (o *oracle) pulled() (list []store.Endpoint) {
	for _, e := range o.endpoints() {
		if e.Pull() {
			list = append(list, e)
		}
	}
	return list
}

// pullable are the ids of what a pull of the oracle finds, by a look at all deliveries; of
// another transaction nothing.
func (o *oracle) pullable(tx store.Tx, org, endpoint string, r store.PullRequest) string {
	if tx.Tx != o.Tx.Tx {
		return ""
	}
	e, _ := o.Endpoint(org, endpoint)
	ready := slices.DeleteFunc(o.deliveries(), func(d store.Delivery) bool {
		return d.EndpointNumber != e.Number || slices.Contains(r.Ack, d.ID) || o.pullableAt(&d).After(o.now)
	})
	slices.SortFunc(ready, func(a, b store.Delivery) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt), strings.Compare(a.ID, b.ID))
	})
	return fmt.Sprint(idsOf(ready[:min(len(ready), r.Limit)]))
}

// never is later than any clock.
var never = store.MaxTime

// pullableAt is from when on a delivery may be pulled, at now or later. A lease of a time before
// the clock was set back has ended.
func (o *oracle) pullableAt(d *store.Delivery) time.Time {
	at := d.DueAt
	switch {
	case d.State.Finished():
		return never
	case d.State == store.StateLeased:
		if at = d.Lease().EndsAt; at.After(o.now.Add(store.MaxLease + time.Minute)) {
			return o.now
		}
	case len(d.History) == 0:
		return o.now
	}
	if at.Before(o.now) {
		return o.now
	}
	return at
}

// pullDue is from when on pulls find something, by endpoint: at now or later.
func (o *oracle) pullDue() map[uint64]time.Time {
	due := map[uint64]time.Time{}
	for _, e := range o.pulled() {
		at := never
		for _, d := range o.deliveries() {
			if d.EndpointNumber == e.Number && o.pullableAt(&d).Before(at) {
				at = o.pullableAt(&d)
			}
		}
		if at.Before(never) && !e.Disabled() {
			due[e.Number] = at
		}
	}
	return due
}

// allDue is from when on each endpoint has something to be sent or pulled.
func (o *oracle) allDue() map[uint64]time.Time {
	due := o.eachDue()
	maps.Copy(due, o.pullDue())
	return due
}
