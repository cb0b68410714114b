package storetest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"teamdata/store"
)

// countsOf is where the attempts at an endpoint in an hour are counted.
type countsOf struct {
	hour     time.Time
	org      string
	endpoint uint64
}

func (o *oracle) AddDeliveryCounts(orgID string, endpoint uint64, at time.Time, c store.DeliveryCounts) error {
	key := countsOf{at.Truncate(time.Hour), orgID, endpoint}
	sum := o.counts[key]
	sum.Add(c)
	o.counts[key] = sum
	return nil
}

func (o *oracle) EachDeliveryCounts(orgID string, from time.Time, fn func(uint64, time.Time, store.DeliveryCounts)) error {
	keys := slices.SortedFunc(maps.Keys(o.counts), func(a, b countsOf) int {
		return cmp.Or(a.hour.Compare(b.hour), cmp.Compare(a.endpoint, b.endpoint))
	})
	for _, key := range keys {
		if key.org == orgID && !key.hour.Before(from.Truncate(time.Hour)) {
			fn(key.endpoint, key.hour, o.counts[key])
		}
	}
	return nil
}

func (o *oracle) DropDeliveryCountsOf(orgID string, limit int) (n int, err error) {
	for key := range o.counts {
		if key.org == orgID && n < limit {
			delete(o.counts, key)
			n++
		}
	}
	return n, nil
}

// DropDeliveryCounts drops all that it may, as it is used without a limit.
func (o *oracle) DropDeliveryCounts(before time.Time, limit int) (n int, err error) {
	for key := range o.counts {
		if !key.hour.Add(time.Hour).After(before) && n < limit {
			delete(o.counts, key)
			n++
		}
	}
	return n, nil
}
