package store_test

import (
	"fmt"
	"slices"
	"testing"

	"teamdata/store"
)

// TestDeliveriesAfter reads all lists, and each alone, with every limit.
func TestDeliveriesAfter(t *testing.T) { onBoth(t, testDeliveriesAfter) }

func testDeliveriesAfter(s *subject) {
	endpoint := s.Seed()
	ids := s.sendTests("whe_1", 9)
	for i, id := range ids[:6] {
		s.try(id, s.Clock.Now(), []int{200, 500}[i%2])
	}
	for _, id := range []string{ids[1], ids[3]} {
		s.try(ids[0], s.Clock.Now(), 200) // so that the endpoint stays enabled
		s.failAll(id)
	}
	var all []string
	for _, list := range store.DeliveryLists {
		want := s.Listed(endpoint.Number, list)
		s.Equal("there are some in "+list.String(), len(want) > 1, true)
		s.walkLists([]store.DeliveryList{list}, want)
		all = append(all, want...)
	}
	s.walkLists(store.DeliveryLists, all)
	s.Read(func(tx store.Tx) error {
		waiting := s.delivery(ids[8])
		found, err := store.DeliveriesAfter(tx, endpoint.Number, []store.DeliveryList{store.ListFailed}, waiting.Cursor(), 100)
		s.Equal("from a list that is not asked for: all of the next", len(found), 2)
		for _, bad := range []store.Cursor{{Ms: 1, ID: "x"}, {Ms: 1, ID: "held.x"}, {Ms: 1, ID: "failed."}, {Ms: 1, ID: "failed.é"}} {
			_, err := store.DeliveriesAfter(tx, endpoint.Number, store.DeliveryLists, bad, 1)
			s.Code(fmt.Sprint("after ", bad), err, store.CodeBadRequest)
		}
		return err
	})
}

func (s *subject) walkLists(lists []store.DeliveryList, want []string) {
	s.Helper()
	for limit := 1; limit <= len(want)+1; limit++ {
		var got []string
		for after, more := (store.Cursor{}), true; more && len(got) <= len(want); {
			s.Read(func(tx store.Tx) error {
				page, err := store.DeliveriesAfter(tx, 1, lists, after, limit)
				for _, d := range page {
					got, after = append(got, d.ID), d.Cursor()
				}
				more = len(page) == limit
				return err
			})
		}
		if !slices.Equal(got, want) {
			s.Errorf("lists %v by %d: %v, want %v", lists, limit, got, want)
		}
	}
}
