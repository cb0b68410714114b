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

// notices keeps what OnDue tells.
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

// take returns what was told since the last take.
func (n *notices) take() []notice {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := n.all
	n.all = nil
	return taken
}

func testOnDue(s *subject) {
	var told notices
	told.listen(s)
	endpoint := s.seed()
	s.equal("told without a delivery", told.take(), []notice{})

	s.update(upload)
	now := s.clock.now()
	s.equal("told before the Update returned", told.take(), []notice{{endpoint.Number, now}})
	s.attempt(func(tx store.Tx) error { return errors.Join(upload(tx), errFailing) })
	s.equal("told of a failed transaction", told.take(), []notice{})

	id := s.claim()[0]
	s.update(recordAttempt(id, now, 500))
	s.equal("told of the next attempt", told.take(), []notice{{endpoint.Number, now.Add(time.Minute)}})
	s.update(recordAttempt(id, now, 200))
	s.equal("told of an acknowledged delivery", told.take(), []notice{})

	s.update(upload)
	endpoint.DisabledAt = now
	s.update(func(tx store.Tx) error { return tx.PutEndpoint(endpoint) })
	told.take()
	endpoint.DisabledAt = time.Time{}
	s.update(func(tx store.Tx) error { return tx.PutEndpoint(endpoint) })
	s.equal("told when the endpoint is enabled", told.take(), []notice{{endpoint.Number, now}})
	s.toldInCommitOrder(&told)
}

// toldInCommitOrder has many writers make deliveries: the order in which they
// are told is that of the audit log. The endpoints tell them apart.
func (s *subject) toldInCommitOrder(told *notices) {
	const writers, updates = 8, 20
	endpoints := make([]store.Endpoint, writers)
	s.update(func(tx store.Tx) (err error) {
		for w := range endpoints {
			endpoints[w], err = store.ImportEndpoint(tx, newEndpoint(acme, fmt.Sprintf("whe_w%d", w)))
		}
		return err
	})
	told.take()
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for range updates {
				s.code("sending", s.attempt(func(tx store.Tx) error {
					_, err := store.SendTest(tx, acme, endpoints[w].ID)
					return errors.Join(err, addAudit(tx, fmt.Sprint(endpoints[w].Number)))
				}), "")
			}
		})
	}
	all.Wait()
	var order []string
	for _, n := range told.take() {
		order = append(order, fmt.Sprint(n.endpoint))
	}
	log := actions(s.auditLog(acme))
	s.equal("the order of the notices", order, log[len(log)-writers*updates:])
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

func testEachDue(s *subject) {
	first := s.seed()
	var second, idle store.Endpoint
	var late, early store.Delivery
	s.update(func(tx store.Tx) (err error) {
		second, _ = store.ImportEndpoint(tx, newEndpoint(other, "whe_1"))
		idle, _ = store.ImportEndpoint(tx, newEndpoint(acme, "whe_idle"))
		late, _ = store.SendTest(tx, acme, first.ID)
		early, err = store.SendTest(tx, acme, first.ID)
		return err
	})
	now := s.clock.now()
	s.update(recordAttempt(late.ID, now, 500))
	s.equal("one endpoint", s.eachDue(), map[uint64]time.Time{first.Number: now})
	s.update(recordAttempt(early.ID, now, 0))
	s.clock.move(time.Second)
	s.update(func(tx store.Tx) error {
		_, err := store.SendTest(tx, other, second.ID)
		return err
	})
	both := map[uint64]time.Time{first.Number: now.Add(time.Minute), second.Number: now.Add(time.Second)}
	s.equal("two endpoints", s.eachDue(), both)
	s.reopen()
	s.equal("two endpoints, reopened", s.eachDue(), both)
	if _, ok := s.eachDue()[idle.Number]; ok {
		s.Errorf("an endpoint without deliveries has something due")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := s.EachDue(ctx, func(uint64, time.Time) {})
	s.equal("cancelled", errors.Is(err, context.Canceled), true)
}
