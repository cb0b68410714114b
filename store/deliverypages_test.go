package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"teamdata/store"
)

// fillDeliveryLists gives each of two endpoints n deliveries of each state, three
// a millisecond, made in any order.
func (s *subject) fillDeliveryLists(n int) (all []store.Delivery) {
	s.Helper()
	event := store.Event{ID: "evt_1", OrgID: acme, Type: "t"}
	for i := range 2 * 4 * n {
		endpoint, state, i := uint64(1+i/(4*n)), store.StatePending+store.DeliveryState(i/n%4), i%n
		at := someTime.Add(time.Duration(i/3) * time.Millisecond)
		d := store.Delivery{
			ID: fmt.Sprintf("whd_%03d_%d_%d", i, state, endpoint), EventID: event.ID, OrgID: acme, EndpointNumber: endpoint, State: state,
			CreatedAt: someTime, DueAt: at,
		}
		if state != store.StatePending || i%4 == 0 { // one that was not attempted, or was replayed
			ended := someTime.Add(time.Duration(i*5%n/2) * time.Millisecond)
			d.History = []store.Attempt{{StartedAt: ended, EndedAt: ended.Add(300 * time.Microsecond), Reason: "x"}}
		}
		if !state.Waiting() {
			d.DueAt, d.FinishedAt = someTime.Add(time.Duration(i*7%n)*time.Hour), at
		}
		event.Deliveries = append(event.Deliveries, d.ID)
		all = append(all, d)
	}
	mixed := slices.Clone(all)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	s.Write(func(tx store.Tx) error {
		for endpoint := range 2 {
			if _, err := tx.AddEndpoint(store.Endpoint{OrgID: acme, ID: fmt.Sprint("whe_", endpoint), URL: "https://example.com/"}); err != nil {
				return err
			}
		}
		return tx.AddEvent(event, mixed)
	})
	return all
}

// TestDeliveryPages reads each list of the endpoints, of one without deliveries and
// of none.
func TestDeliveryPages(t *testing.T) { onBoth(t, testDeliveryPages) }

func testDeliveryPages(s *subject) {
	all := s.fillDeliveryLists(6)
	for endpoint := range uint64(4) {
		for _, list := range store.DeliveryLists {
			all = s.holdsDeliveries(endpoint, list, all)
		}
	}
	for _, endpoints := range [][]uint64{nil, {1}, {2, 1}, {3, 2, 1, 0}} {
		for _, lists := range [][]store.DeliveryList{nil, store.DeliveryLists, {store.ListWaiting}, {store.ListFailed, store.ListWaiting}, {store.ListAttempted, store.ListFailed}} {
			s.holdsLatest(endpoints, lists, all)
		}
	}
}

// holdsLatest holds the latest of some lists of endpoints to all that there is.
func (s *subject) holdsLatest(endpoints []uint64, lists []store.DeliveryList, all []store.Delivery) {
	s.Helper()
	var items []item
	for _, d := range all {
		if slices.Contains(endpoints, d.EndpointNumber) && inAny(lists, &d) {
			items = append(items, item{d.Latest(), d.ID})
		}
	}
	slices.SortFunc(items, func(a, b item) int { return b.at.Compare(a.at) })
	s.holdsList(fmt.Sprintf("latest in lists %v of endpoints %v", lists, endpoints), items, -1, latestDeliveries(endpoints, lists...))
}

// holdsDeliveries holds a list to those of some deliveries that are in it; once
// more when one of them is deleted. It returns those that are left.
func (s *subject) holdsDeliveries(endpoint uint64, list store.DeliveryList, all []store.Delivery) []store.Delivery {
	s.Helper()
	what := fmt.Sprintf("list %d of endpoint %d", list, endpoint)
	direction := -1
	if list == store.ListWaiting {
		direction = 1
	}
	var items []item
	for _, d := range all {
		if in, at := d.Position(); in == list && d.EndpointNumber == endpoint {
			items = append(items, item{at, d.ID})
		}
	}
	slices.SortFunc(items, func(a, b item) int { return a.at.Compare(b.at) * direction })
	s.holdsList(what, items, direction, deliveries(endpoint, list))
	for most := 1; list == store.ListWaiting && most <= len(items)+1; most++ {
		s.countWaiting(what, store.Endpoint{Number: endpoint}, most, len(items))
		s.countWaiting(what+", held", store.Endpoint{Number: endpoint, DisabledAt: s.Clock.Now()}, most, len(items))
	}
	if len(items) == 0 {
		return all
	}
	middle := items[len(items)/2]
	s.Write(func(tx store.Tx) error { return tx.DeleteDelivery(middle.text) })
	items = slices.DeleteFunc(items, func(i item) bool { return i == middle })
	s.holdsList(what+" with one deleted", items, direction, deliveries(endpoint, list), around(middle.at)...)
	return slices.DeleteFunc(slices.Clone(all), func(d store.Delivery) bool { return d.ID == middle.text })
}

func (s *subject) countWaiting(what string, e store.Endpoint, most, want int) {
	s.Helper()
	s.Read(func(tx store.Tx) error {
		w, err := tx.CountWaiting(e, most)
		s.Equal(what+": counted", w.Total(), min(most, want))
		s.Equal(what+": more than counted", w.Capped, want > most)
		s.Equal(what+": held", w.Held > 0, e.Disabled() && want > 0)
		return err
	})
}

// TestFinishedBefore: it finds what was finished before a time, of every
// endpoint, removed ones too, up to a limit, and nothing that waits.
func TestFinishedBefore(t *testing.T) { onBoth(t, testFinishedBefore) }

func testFinishedBefore(s *subject) {
	const n = 20
	s.fillDeliveryLists(n)
	s.finishedBefore(n)
	s.Write(func(tx store.Tx) error {
		return tx.DeleteEndpoint(store.Endpoint{OrgID: acme, ID: "whe_0", Number: 1})
	})
	s.finishedBefore(n)
}

func (s *subject) finishedBefore(n int) {
	s.Helper()
	for after := range n/3 + 2 {
		t := someTime.Add(time.Duration(after) * time.Millisecond)
		finished := 4 * min(3*after, n) // two endpoints, two lists
		for _, limit := range []int{1, 5, finished, finished + 1, 1000} {
			s.Read(func(tx store.Tx) error {
				ids, err := tx.FinishedBefore(t, limit)
				what := fmt.Sprintf("finished before %v, at most %d", t, limit)
				s.Equal(what, len(ids), min(limit, finished))
				slices.Sort(ids)
				s.Equal(what+": each once", len(slices.Compact(ids)), min(limit, finished))
				for _, id := range ids {
					d, err := tx.Delivery(id)
					s.Equal(what+": "+id, !d.State.Waiting() && d.FinishedAt.Before(t), true)
					s.Code(what, err, "")
				}
				return err
			})
		}
	}
}

// TestHeldBefore: it finds what a disabled endpoint has held since before a time, be
// it by when that was due or by when the endpoint was disabled, up to a limit, and
// nothing of an enabled one or of none.
func TestHeldBefore(t *testing.T) { onBoth(t, testHeldBefore) }

func testHeldBefore(s *subject) {
	const n = 20
	all := s.fillDeliveryLists(n)
	for _, disabled := range []time.Time{{}, someTime.Add(-time.Hour), someTime.Add(2 * time.Millisecond), someTime.Add(time.Hour)} {
		e := store.Endpoint{OrgID: acme, ID: "whe_0", Number: 1, URL: "https://example.com/", DisabledAt: disabled}
		s.Write(func(tx store.Tx) error { return tx.PutEndpoint(e) })
		for after := range n/3 + 3 {
			t := someTime.Add(time.Duration(after) * time.Millisecond)
			var want []string
			for _, d := range all {
				if d.EndpointNumber == 1 && d.State.Waiting() && e.Disabled() && d.DueAt.Before(t) && disabled.Before(t) {
					want = append(want, d.ID)
				}
			}
			slices.Sort(want)
			for _, limit := range []int{1, 5, len(want), 1000} {
				s.Read(func(tx store.Tx) error {
					ids, err := tx.HeldBefore(t, limit)
					what := fmt.Sprintf("disabled at %v, held before %v, at most %d", disabled, t, limit)
					s.Equal(what, len(ids), min(limit, len(want)))
					if slices.Sort(ids); len(ids) == len(want) {
						s.Equal(what, fmt.Sprint(ids), fmt.Sprint(want))
					}
					return err
				})
			}
		}
	}
	s.Write(func(tx store.Tx) error {
		return tx.DeleteEndpoint(store.Endpoint{OrgID: acme, ID: "whe_0", Number: 1})
	})
	s.Read(func(tx store.Tx) error {
		ids, err := tx.HeldBefore(someTime.Add(1000*time.Hour), 1000)
		s.Equal("of a removed endpoint", len(ids), 0)
		return err
	})
}

// inAny reports whether a delivery is in any of some lists.
func inAny(lists []store.DeliveryList, d *store.Delivery) bool {
	list, _ := d.Position()
	_, attempted := d.Attempted()
	return slices.Contains(lists, list) || attempted && slices.Contains(lists, store.ListAttempted)
}
