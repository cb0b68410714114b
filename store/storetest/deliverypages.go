package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"teamdata/store"
)

// fillDeliveryLists gives each of two endpoints' three lists n deliveries, three
// a millisecond, made in any order. It returns the ids of each list in order.
func (s *Subject) fillDeliveryLists(n int) map[uint64]map[store.DeliveryList][]string {
	s.Helper()
	want := map[uint64]map[store.DeliveryList][]string{}
	var all []store.Delivery
	event := store.Event{ID: "evt_1", OrgID: acme, Type: "t"}
	for endpoint := range uint64(2) {
		want[endpoint+1] = map[store.DeliveryList][]string{}
		for _, state := range []store.DeliveryState{store.StatePending, store.StateRetrying, store.StateAcknowledged, store.StateFailed} {
			for i := range n {
				at := someTime.Add(time.Duration(i/3) * time.Millisecond)
				d := store.Delivery{
					ID: fmt.Sprintf("whd_%03d_%d_%d", i, state, endpoint), EventID: event.ID, OrgID: acme, EndpointNumber: endpoint + 1, State: state,
					CreatedAt: someTime, DueAt: at,
				}
				if !state.Waiting() {
					d.DueAt, d.FinishedAt = someTime.Add(time.Duration(i*7%n)*time.Hour), at
				}
				list, _ := d.Position()
				want[endpoint+1][list] = append(want[endpoint+1][list], d.ID)
				event.Deliveries = append(event.Deliveries, d.ID)
				all = append(all, d)
			}
		}
	}
	s.Write(func(tx store.Tx) error {
		for endpoint := range want {
			if _, err := tx.AddEndpoint(store.Endpoint{OrgID: acme, ID: fmt.Sprint("whe_", endpoint)}); err != nil {
				return err
			}
		}
		for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(all)) {
			if err := tx.AddDelivery(all[i]); err != nil {
				return err
			}
		}
		return tx.AddEvent(event)
	})
	for _, lists := range want {
		slices.Sort(lists[store.ListWaiting])
		slices.Reverse(lists[store.ListAcknowledged])
		slices.Reverse(lists[store.ListFailed])
	}
	return want
}

// testDeliveryPages reads every list with every limit.
func testDeliveryPages(s *Subject) {
	const n = 20
	for endpoint, lists := range s.fillDeliveryLists(n) {
		for list, want := range lists {
			for limit := 1; limit <= len(want)+1; limit++ {
				s.walkDeliveries(endpoint, list, limit, want)
			}
		}
	}
	for _, list := range []store.DeliveryList{store.ListAcknowledged, store.ListWaiting, store.ListFailed} {
		s.Equal("of an endpoint without deliveries", s.Listed(3, list), []string{})
		s.Equal("of no endpoint", s.Listed(0, list), []string{})
	}
	s.deliveryPageAfterNothing()
}

func (s *Subject) countWaiting(what string, e store.Endpoint, most, want int) {
	s.Helper()
	s.Read(func(tx store.Tx) error {
		w, err := tx.CountWaiting(e, most)
		s.Equal(what+": counted", w.Total(), min(most, want))
		s.Equal(what+": more than counted", w.Capped, want > most)
		s.Equal(what+": held", w.Held > 0, e.Disabled() && want > 0)
		return err
	})
}

func (s *Subject) walkDeliveries(endpoint uint64, list store.DeliveryList, limit int, want []string) {
	s.Helper()
	what := fmt.Sprintf("list %d of endpoint %d by %d", list, endpoint, limit)
	if list == store.ListWaiting {
		s.countWaiting(what, store.Endpoint{Number: endpoint}, limit, len(want))
		s.countWaiting(what+", held", store.Endpoint{Number: endpoint, DisabledAt: s.Clock.Now()}, limit, len(want))
	}
	var got []string
	for after, more := (store.Cursor{}), true; more && len(got) <= len(want); {
		s.Read(func(tx store.Tx) (err error) {
			var page []store.Delivery
			page, more, err = tx.DeliveryPage(endpoint, list, after, limit)
			s.Equal(what+": on the page", len(page), min(limit, len(want)-len(got)))
			for _, d := range page {
				got = append(got, d.ID)
				_, after = d.Position()
			}
			return err
		})
		s.Equal(what+": more", more, len(got) < len(want))
	}
	s.Equal(what, got, want)
}

// deliveryPageAfterNothing reads after positions that no delivery has.
func (s *Subject) deliveryPageAfterNothing() {
	s.Helper()
	ms := uint64(someTime.UnixMilli())
	for _, c := range []struct {
		list  store.DeliveryList
		after store.Cursor
		want  string
	}{
		{store.ListWaiting, store.Cursor{Ms: ms - 1, ID: "x"}, "whd_000_1_0"},
		{store.ListWaiting, store.Cursor{Ms: ms, ID: "whd_000_1_0x"}, "whd_000_2_0"},
		{store.ListWaiting, store.Cursor{Ms: ms, ID: "~"}, "whd_003_1_0"},
		{store.ListWaiting, store.Cursor{Ms: ms + 1000, ID: "x"}, ""},
		{store.ListFailed, store.Cursor{Ms: ms + 1000, ID: "x"}, "whd_019_4_0"},
		{store.ListFailed, store.Cursor{Ms: ms + 1, ID: "a"}, "whd_002_4_0"},
		{store.ListFailed, store.Cursor{Ms: ms, ID: "a"}, ""},
		{store.ListAcknowledged, store.Cursor{Ms: ms, ID: "whd_001"}, "whd_000_3_0"},
		{store.ListAcknowledged, store.Cursor{Ms: 1, ID: "x"}, ""},
	} {
		s.Read(func(tx store.Tx) error {
			page, _, err := tx.DeliveryPage(1, c.list, c.after, 1)
			got := ""
			if len(page) > 0 {
				got = page[0].ID
			}
			s.Equal(fmt.Sprintf("list %d after %v", c.list, c.after), got, c.want)
			return err
		})
	}
}

// testFinishedBefore: it finds what was finished before a time, of every
// endpoint, up to a limit, and nothing that waits.
func testFinishedBefore(s *Subject) {
	const n = 20
	s.fillDeliveryLists(n)
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
