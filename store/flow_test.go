package store_test

import (
	"slices"
	"testing"
	"time"

	"teamdata/store"
)

func TestPassages(t *testing.T) { onBoth(t, testPassages) }

// The passages of an endpoint are those that were not finished before a time: what waits or is
// leased since any time, and what was finished since then.
func testPassages(s *subject) {
	s.Seed()
	start := s.Clock.Now()
	var e store.Endpoint
	var key store.APIKey
	s.Write(func(tx store.Tx) (err error) {
		if key, err = store.ImportKey(tx, store.APIKey{ID: "key_pull", OrgID: acme, Scopes: store.ScopeReceive, CreatedBy: ada}); err == nil {
			e, err = store.CreateEndpoint(tx, ada, store.Endpoint{ID: "whe_pull", OrgID: acme, Events: []string{store.EventMemberAdded}})
		}
		return err
	})
	pull := func(ack ...string) (id string) {
		s.Write(func(tx store.Tx) error {
			got, err := store.Pull(tx, e.ID, store.PullRequest{Key: &key, Ack: ack, Limit: 1, Lease: time.Minute})
			for _, c := range got.Claims {
				id = c.Delivery.ID
			}
			return err
		})
		return id
	}
	for range 4 { // each a minute after the one before
		s.Write(func(tx store.Tx) error {
			_, err := store.SendTest(tx, acme, e.ID)
			return err
		})
		s.Clock.Move(time.Minute)
	}
	first := pull() // at minute 4
	s.Clock.Move(time.Minute)
	second := pull(first)
	s.Write(func(tx store.Tx) error {
		d, err := tx.Delivery(second)
		if err != nil {
			return err
		}
		return store.NackDeliveries(tx, &key, e.ID, []store.LeaseOf{{DeliveryID: second, Lease: d.Lease().ID}}, "no", nil, nil)
	})
	s.Clock.Move(time.Minute)
	pull() // leases the third
	since := func(minutes, limit int) (made, finished []int, acknowledged int, whole bool) {
		s.Read(func(tx store.Tx) (err error) {
			whole, err = tx.EachPassage(e.Number, start.Add(time.Duration(minutes)*time.Minute), limit, func(p store.Passage) {
				made = append(made, int(p.MadeAt.Sub(start).Minutes()))
				if !p.FinishedAt.IsZero() {
					finished = append(finished, int(p.FinishedAt.Sub(start).Minutes()))
				}
				if p.Acknowledged {
					acknowledged++
				}
			})
			return err
		})
		slices.Sort(made)
		return made, finished, acknowledged, whole
	}
	for _, c := range []struct {
		minutes, limit int
		made, finished []int
		whole          bool
	}{
		{0, 4, []int{0, 1, 2, 3}, []int{5, 5}, true},
		{5, 100, []int{0, 1, 2, 3}, []int{5, 5}, true},
		{6, 100, []int{2, 3}, nil, true},
	} {
		made, finished, acknowledged, whole := since(c.minutes, c.limit)
		if !slices.Equal(made, c.made) || !slices.Equal(finished, c.finished) || acknowledged != len(c.finished)/2 || whole != c.whole {
			s.Errorf("since minute %d there are %v, finished %v, of which %d were acknowledged: %v", c.minutes, made, finished, acknowledged, whole)
		}
	}
	if made, _, _, whole := since(0, 3); whole || len(made) != 3 {
		s.Errorf("of four up to three are %v: %v", made, whole)
	}
}
