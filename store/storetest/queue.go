package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"teamdata/store"
)

// notice is one call of OnDue's function.
type notice struct {
	endpoint uint64
	due      time.Time
}

// notices keeps what OnDue reports.
type notices struct {
	mu  sync.Mutex
	all []notice
}

func (n *notices) listen(s store.Store) {
	s.OnDue(func(endpoint uint64, due time.Time) {
		n.mu.Lock()
		n.all = append(n.all, notice{endpoint, due.UTC()})
		n.mu.Unlock()
	})
}

// take returns what was reported since the last take.
func (n *notices) take() []notice {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := n.all
	n.all = nil
	return taken
}

func testOnDue(s *Subject) {
	var notified notices
	notified.listen(s)
	endpoint := s.Seed()
	s.Equal("notified without a delivery", notified.take(), []notice{})

	s.Write(upload)
	now := s.Clock.Now()
	s.Equal("notified before the Update returned", notified.take(), []notice{{endpoint.Number, now}})
	s.Attempt(func(tx store.Tx) error { return errors.Join(upload(tx), errFailing) })
	s.Equal("notified of a failed transaction", notified.take(), []notice{})

	id := s.Claimable()[0]
	s.Write(recordAttempt(id, now, 500))
	s.Equal("notified of the next attempt", notified.take(), []notice{{endpoint.Number, now.Add(time.Minute)}})
	s.Write(recordAttempt(id, now, 200))
	s.Equal("notified of an acknowledged delivery", notified.take(), []notice{})

	s.Write(upload)
	endpoint.DisabledAt = now
	s.Write(func(tx store.Tx) error { return tx.PutEndpoint(endpoint) })
	notified.take()
	endpoint.DisabledAt = time.Time{}
	s.Write(func(tx store.Tx) error { return tx.PutEndpoint(endpoint) })
	s.Equal("notified when the endpoint is enabled", notified.take(), []notice{{endpoint.Number, now}})
	s.notifiedInCommitOrder(&notified)
}

// notifiedInCommitOrder has many writers make deliveries: the order in which they
// are notified is that of the audit log. The endpoints distinguish them.
func (s *Subject) notifiedInCommitOrder(notified *notices) {
	const writers, updates = 8, 20
	endpoints := make([]store.Endpoint, writers)
	s.Write(func(tx store.Tx) (err error) {
		for w := range endpoints {
			endpoints[w], err = store.ImportEndpoint(tx, newEndpoint(acme, fmt.Sprintf("whe_w%d", w)))
		}
		return err
	})
	notified.take()
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
	for _, n := range notified.take() {
		order = append(order, fmt.Sprint(n.endpoint))
	}
	log := actions(s.AuditLog(acme))
	s.Equal("the order of the notices", order, log[len(log)-writers*updates:])
}

// recordAttempt is an attempt that ended at a time with a status.
func recordAttempt(id string, ended time.Time, status int) func(store.Tx) error {
	a := store.Attempt{StartedAt: ended.Add(-time.Second), EndedAt: ended, Status: status}
	if status != 200 {
		a.Reason = "not 2xx"
	}
	return func(tx store.Tx) error {
		_, err := store.RecordAttempt(tx, id, a, store.DefaultRetrySchedule)
		return err
	}
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
	s.Write(recordAttempt(late.ID, now, 500))
	s.Equal("one endpoint", s.Due(), map[uint64]time.Time{first.Number: now})
	s.Write(recordAttempt(early.ID, now, 0))
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
