package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"teamdata/store"
)

// testClaim has deliveries become due second by second, made in another order.
func testClaim(s *Subject) {
	endpoint := s.Seed()
	now := s.Clock.Now()
	var all []store.Delivery
	var want []string // ids in the order in which they are due
	for _, second := range []int{3, 1, 0, 2, 4} {
		d := store.Delivery{
			ID: fmt.Sprintf("whd_%d", second), EventID: "evt_1", OrgID: acme, EndpointID: endpoint.ID, EndpointNumber: endpoint.Number,
			State: store.StatePending, CreatedAt: now, DueAt: now.Add(time.Duration(second) * time.Second),
		}
		all, want = append(all, d), append(want, d.ID)
	}
	s.Write(func(tx store.Tx) error {
		return tx.AddEvent(store.Event{ID: "evt_1", OrgID: acme, Body: []byte("body"), Deliveries: slices.Clone(want)}, all)
	})
	slices.Sort(want)
	claim := func(what string, at time.Time, limit int, want []string, next time.Time) {
		s.Helper()
		claims, err := s.Claim(context.Background(), endpoint.Number, at, limit)
		s.Code(what, err, "")
		s.Equal(what+": endpoint", claims.Endpoint, endpoint)
		s.Equal(what+": deliveries", deliveryIDs(claims), want)
		s.Equal(what+": next", claims.Next.UTC(), next)
		for _, c := range claims.Claims {
			s.Equal(what+": body", string(c.Body), "body")
		}
	}
	at := func(second int) time.Time { return now.Add(time.Duration(second) * time.Second) }
	claim("too early", now.Add(-time.Millisecond), 9, nil, at(0))
	claim("the first", at(2), 1, want[:1], at(1))
	claim("the next two", at(2), 9, want[1:3], at(3))
	claim("nothing twice", at(2), 9, nil, at(3))
	claimed := func() (ids []string) {
		s.Read(func(tx store.Tx) error {
			ids = slices.DeleteFunc(slices.Clone(want), func(id string) bool { return !tx.IsClaimed(id) })
			return nil
		})
		return ids
	}
	s.Equal("claimed", claimed(), want[:3])
	s.Release(want[1])
	s.Equal("claimed after a release", claimed(), []string{want[0], want[2]})
	s.Release("whd_unknown")
	claim("the released", at(2), 9, want[1:2], at(3))
	claim("almost", at(3).Add(-time.Millisecond), 9, nil, at(3))
	claim("by one", at(100), 1, want[3:4], at(4))
	claim("the rest", at(100), 9, want[4:], time.Time{})
	claim("nothing left", at(100), 9, nil, time.Time{})
	s.Reopen()
	claim("all again, as after a restart", at(100), 9, want, time.Time{})

	again := func(what string, want bool) {
		s.Helper()
		claims, err := s.Claim(context.Background(), endpoint.Number, at(100), 9)
		s.Code(what, err, "")
		s.Equal(what+": again", claims.Again, want)
	}
	again("all are claimed", false)
	s.Write(sendTest(acme, endpoint.ID))
	again("one more", false)
	s.Write(attempt(want[0], 500, store.DefaultRetrySchedule))
	again("one was attempted", true)
	s.Release(want[0])
	again("it was released", false)

	claims, err := s.Claim(context.Background(), 999, now, 9)
	s.Code("an unknown endpoint", err, "")
	s.Equal("deliveries of an unknown endpoint", len(claims.Claims), 0)
}

func deliveryIDs(claims store.Claims) (ids []string) {
	for _, c := range claims.Claims {
		ids = append(ids, c.Delivery.ID)
	}
	return ids
}

// testClaimsDoNotOverlap has dispatchers claim, record and release at the same
// time: each delivery is attempted once.
func testClaimsDoNotOverlap(s *Subject) {
	const dispatchers, deliveries = 8, 400
	endpoint := s.Seed()
	s.Write(func(tx store.Tx) (err error) {
		for range deliveries {
			_, err = store.SendTest(tx, acme, endpoint.ID)
		}
		return err
	})
	var mu sync.Mutex
	attempts := map[string]int{}
	var all sync.WaitGroup
	for range dispatchers {
		all.Go(func() {
			for {
				claims, err := s.Claim(context.Background(), endpoint.Number, s.Clock.Now(), 3)
				s.Code("claim", err, "")
				if len(claims.Claims) == 0 {
					return
				}
				for _, id := range deliveryIDs(claims) {
					mu.Lock()
					attempts[id]++
					mu.Unlock()
					s.Code("recording", s.Update(context.Background(), store.All, attempt(id, 200, nil)), "")
					s.Release(id)
				}
			}
		})
	}
	all.Wait()
	s.Equal("deliveries attempted", len(attempts), deliveries)
	for id, n := range attempts {
		s.Equal("attempts of "+id, n, 1)
	}
	s.Equal("each due", s.Due(), map[uint64]time.Time{})
}
