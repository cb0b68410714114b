package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"teamdata/store"
)

// Notice is one call of OnDue's function.
type Notice struct {
	Endpoint uint64
	Due      time.Time
}

// Notices keep what OnDue reports.
type Notices struct {
	mu  sync.Mutex
	all []Notice
}

// Notices are what OnDue reports from now on, until the store is reopened.
func (s *Subject) Notices() *Notices {
	n := new(Notices)
	s.OnDue(func(endpoint uint64, due time.Time) {
		n.mu.Lock()
		n.all = append(n.all, Notice{endpoint, due.UTC()})
		n.mu.Unlock()
	})
	return n
}

// Take returns what was reported since the last Take.
func (n *Notices) Take() []Notice {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := n.all
	n.all = nil
	return taken
}

func testOnDue(s *Subject) {
	notified := s.Notices()
	endpoint := s.Seed()
	s.Equal("notified without a delivery", notified.Take(), []Notice{})

	s.Write(upload)
	now := s.Clock.Now()
	s.Equal("notified before the Update returned", notified.Take(), []Notice{{endpoint.Number, now}})
	s.Attempt(func(tx store.Tx) error { return errors.Join(upload(tx), errFailing) })
	s.Equal("notified of a failed transaction", notified.Take(), []Notice{})

	id := s.Claimable()[0]
	s.Write(attempt(id, 500, store.DefaultRetrySchedule))
	s.Equal("notified of the next attempt", notified.Take(), []Notice{{endpoint.Number, now.Add(time.Minute)}})
	s.Write(attempt(id, 200, store.DefaultRetrySchedule))
	s.Equal("notified of an acknowledged delivery", notified.Take(), []Notice{})

	s.Write(upload)
	endpoint.DisabledAt = now
	s.Write(func(tx store.Tx) error { return tx.PutEndpoint(endpoint) })
	notified.Take()
	endpoint.DisabledAt = time.Time{}
	s.Write(func(tx store.Tx) error { return tx.PutEndpoint(endpoint) })
	s.Equal("notified when the endpoint is enabled", notified.Take(), []Notice{{endpoint.Number, now}})
	s.notifiedInCommitOrder(notified)
}

// notifiedInCommitOrder has many writers make deliveries: the order in which they
// are notified is that of the audit log. The endpoints distinguish them.
func (s *Subject) notifiedInCommitOrder(notified *Notices) {
	const writers, updates = 8, 20
	endpoints := make([]store.Endpoint, writers)
	s.Write(func(tx store.Tx) (err error) {
		for w := range endpoints {
			endpoints[w], err = store.ImportEndpoint(tx, newEndpoint(acme, fmt.Sprintf("whe_w%d", w)))
		}
		return err
	})
	notified.Take()
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for range updates {
				s.Code("sending", s.Attempt(func(tx store.Tx) error {
					_, err := store.SendTest(tx, acme, endpoints[w].ID)
					return errors.Join(err, addAudit(tx, fmt.Sprint(endpoints[w].Number)))
				}), "")
			}
		})
	}
	all.Wait()
	var order []string
	for _, n := range notified.Take() {
		order = append(order, fmt.Sprint(n.Endpoint))
	}
	log := actions(s.AuditLog(acme))
	s.Equal("the order of the notices", order, log[len(log)-writers*updates:])
}

func testEachDue(s *Subject) {
	first := s.Seed()
	var second, idle store.Endpoint
	var late, early store.Delivery
	s.Write(func(tx store.Tx) (err error) {
		second, _ = store.ImportEndpoint(tx, newEndpoint(other, "whe_1"))
		idle, _ = store.ImportEndpoint(tx, newEndpoint(acme, "whe_idle"))
		late, _ = store.SendTest(tx, acme, first.ID)
		early, err = store.SendTest(tx, acme, first.ID)
		return err
	})
	now := s.Clock.Now()
	s.Write(attempt(late.ID, 500, store.DefaultRetrySchedule))
	s.Equal("one endpoint", s.Due(), map[uint64]time.Time{first.Number: now})
	s.Write(attempt(early.ID, 0, store.DefaultRetrySchedule))
	s.Clock.Move(time.Second)
	s.Write(func(tx store.Tx) error {
		_, err := store.SendTest(tx, other, second.ID)
		return err
	})
	both := map[uint64]time.Time{first.Number: now.Add(time.Minute), second.Number: now.Add(time.Second)}
	s.Equal("two endpoints", s.Due(), both)
	s.Reopen()
	s.Equal("two endpoints, reopened", s.Due(), both)
	if _, ok := s.Due()[idle.Number]; ok {
		s.Errorf("an endpoint without deliveries has something due")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := s.EachDue(ctx, func(uint64, time.Time) {})
	s.Equal("cancelled", errors.Is(err, context.Canceled), true)
}

// testEventsToADisabledEndpoint: they are kept, and go out once it is enabled.
func testEventsToADisabledEndpoint(s *Subject) {
	endpoint := s.Seed()
	put := func(at time.Time) {
		s.Write(func(tx store.Tx) error {
			endpoint.DisabledAt = at
			return tx.PutEndpoint(endpoint)
		})
	}
	s.Write(upload)
	held := s.Claimable()
	put(s.Clock.Now())
	s.Write(upload)
	s.Equal("due while disabled", s.Claimable(), []string{})
	s.Equal("each due while disabled", s.Due(), map[uint64]time.Time{})
	s.Reopen()
	s.Equal("due while disabled, reopened", s.Claimable(), []string{})
	put(time.Time{})
	due := s.Claimable()
	s.Equal("due once enabled", len(due), 2)
	s.Equal("the first of them", due[0], held[0])
	s.Equal("each due once enabled", s.Due(), map[uint64]time.Time{endpoint.Number: s.Clock.Now()})
}
