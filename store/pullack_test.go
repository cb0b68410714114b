package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"teamdata/store"
)

// TestAck: a delivery is acknowledged by its id, whatever became of it.
func TestAck(t *testing.T) { onBoth(t, testAck) }

func testAck(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	ids := s.sendTests("whe_p", 7)
	leased, late, again, failed, taken, waiting, done := ids[0], ids[1], ids[2], ids[3], ids[4], ids[5], ids[6]
	began := s.Clock.Now()
	s.Equal("pulled", c.pull(5), ids[:5])
	s.Code("failing", c.inOrg(func(tx store.Tx) error {
		return store.NackDeliveries(tx, c.key, "whe_p", c.leasesIn(tx, failed), "", nil, nil)
	}), "")
	s.Code("acknowledging", c.ack(taken, done), "")
	s.Clock.Move(30 * time.Second)
	s.Code("extending", c.inOrg(func(tx store.Tx) error {
		return second(store.ExtendLeases(tx, c.key, "whe_p", c.leasesIn(tx, leased), time.Hour))
	}), "")
	s.Clock.Move(time.Minute)
	s.sweep(day)
	s.Equal("one is leased again", c.pull(1, late), []string{again})

	was := s.delivery(done)
	s.Clock.Move(time.Second)
	s.Code("all of them, one twice", c.ack(leased, late, again, failed, waiting, done, done), "")
	for _, id := range ids {
		d := s.delivery(id)
		s.Equal("state", []any{d.State, len(d.Leases)}, []any{store.StateAcknowledged, 0})
		last := d.LastAttempt()
		s.Equal("acknowledged", []any{last.Acknowledged(), last.KeyID, last.Reason, last.Status}, []any{true, c.key.ID, "", 0})
	}
	now := s.Clock.Now()
	for id, want := range map[string][2]time.Time{
		leased: {began, now}, again: {now.Add(-time.Second), now}, late: {began, now.Add(-time.Second)}, waiting: {now, now},
	} {
		d := s.delivery(id)
		last := d.LastAttempt()
		s.Equal("began and ended", [2]time.Time{last.StartedAt, last.EndedAt}, want)
	}
	s.Equal("acknowledged before", s.delivery(done), was)
	s.Equal("attempts of the failed one", s.delivery(failed).Attempts, 2)
	s.Read(func(tx store.Tx) error {
		at, err := tx.LastAcknowledged(c.endpoint.Number)
		s.Equal("last acknowledged", at, now)
		return err
	})
	var total store.DeliveryCounts
	s.Read(func(tx store.Tx) error {
		return tx.EachDeliveryCounts(acme, began.Add(-day), func(_ uint64, _ time.Time, c store.DeliveryCounts) { total.Add(c) })
	})
	s.Equal("counts", []int{total.Acknowledged, total.Retrying, total.Failed}, []int{len(ids), 0, 1})
	before := s.Dump()
	s.Code("all again", c.ack(ids...), "")
	s.Same("after that", s.Dump(), before)
}

// leasesIn is leases within a transaction.
func (c *consumer) leasesIn(tx store.Tx, ids ...string) (of []store.LeaseOf) {
	for _, id := range ids {
		d, err := tx.Delivery(id)
		c.Code("a delivery", err, "")
		of = append(of, store.LeaseOf{DeliveryID: id, Lease: d.Lease().ID})
	}
	return of
}

// TestHowManyAtOnce holds acknowledging, giving back and extending to their bounds.
func TestHowManyAtOnce(t *testing.T) { onBoth(t, testHowManyAtOnce) }

func testHowManyAtOnce(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	ids := s.sendTests("whe_p", store.MaxAcked)
	for range 10 {
		c.pull(100)
	}
	of := c.leases(ids...)
	tooMany := append(slices.Clone(ids), "whd_more")
	for _, n := range []int{0, store.MaxAcked + 1} {
		list, leases := tooMany[:n], append(slices.Clone(of), store.LeaseOf{DeliveryID: "whd_more"})[:n]
		s.refused(fmt.Sprint("acknowledging ", n), store.CodeBadRequest, func(tx store.Tx) error { return store.AckDeliveries(tx, c.key, "whe_p", list) })
		s.refused(fmt.Sprint("giving back ", n), store.CodeBadRequest, c.nacks(nil, leases...))
		s.refused(fmt.Sprint("extending ", n), store.CodeBadRequest, func(tx store.Tx) error {
			return second(store.ExtendLeases(tx, c.key, "whe_p", leases, time.Minute))
		})
	}
	s.Code("extending all", c.inOrg(func(tx store.Tx) error { return second(store.ExtendLeases(tx, c.key, "whe_p", of, time.Minute)) }), "")
	s.Code("giving all back", c.nack(nil, of...), "")
	s.Code("acknowledging all", c.ack(ids...), "")
	s.Equal("acknowledged", len(s.Listed(c.endpoint.Number, store.ListAcknowledged)), len(ids))
}

// TestNack: what is given back is due again by the schedule, or after the delay that was
// named, is failed after the sixth time, and can be replayed. The endpoint stays enabled.
func TestNack(t *testing.T) { onBoth(t, testNack) }

func testNack(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	id := s.sendTests("whe_p", 1)[0]
	delay := 90 * time.Second
	for i := range len(store.DefaultRetrySchedule) + 1 {
		s.Equal("pulled", c.pull(1), []string{id})
		named, wait := (*time.Duration)(nil), time.Duration(0)
		if i < len(store.DefaultRetrySchedule) {
			wait = store.DefaultRetrySchedule[i]
		}
		if i == 2 {
			named, wait = &delay, delay
		}
		began := s.Clock.Now()
		s.Clock.Move(time.Second)
		s.Code("giving back", c.nack(named, c.leases(id)...), "")
		d := s.delivery(id)
		last := *d.LastAttempt()
		last.NextAt = time.Time{}
		s.Equal("the attempt", last, store.Attempt{StartedAt: began, EndedAt: s.Clock.Now(), Reason: "no room", KeyID: c.key.ID})
		s.Equal("attempts", d.Attempts, i+1)
		if wait == 0 {
			break
		}
		s.Equal("due", []any{d.State, d.DueAt, c.due()}, []any{store.StateRetrying, s.Clock.Now().Add(wait), s.Clock.Now().Add(wait)})
		s.Clock.Move(wait - time.Millisecond)
		s.Equal("too early", c.pull(1), []string{})
		s.Clock.Move(time.Millisecond)
	}
	d := s.delivery(id)
	s.Equal("failed", []any{d.State, d.FinishedAt}, []any{store.StateFailed, s.Clock.Now()})
	e := s.Endpoint("whe_p")
	s.Equal("is the endpoint disabled", e.Disabled(), false)
	s.Equal("pulled", c.pull(1), []string{})
	s.Write(replay(id))
	s.Equal("replayed", c.pull(1), []string{id})
	s.Equal("attempts", s.delivery(id).Attempts, 0)
}

// TestLeaseIsNeeded: who gives back or extends needs the current lease of each delivery.
func TestLeaseIsNeeded(t *testing.T) { onBoth(t, testLeaseIsNeeded) }

func testLeaseIsNeeded(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	ids := s.sendTests("whe_p", 4)
	s.Equal("pulled", c.pull(2), ids[:2])
	s.Equal("pulled", c.pull(1), ids[2:3])
	held, wrong, waiting := c.leases(ids[0])[0], c.leases(ids[2])[0], store.LeaseOf{DeliveryID: ids[3]}
	wrong.DeliveryID = ids[1]
	conflict := func(what string, of ...store.LeaseOf) {
		s.Helper()
		s.refused("giving back "+what, store.CodeConflict, c.nacks(nil, of...))
		s.refused("extending "+what, store.CodeConflict, func(tx store.Tx) error { return second(store.ExtendLeases(tx, c.key, "whe_p", of, time.Hour)) })
	}
	conflict("with the lease of another", held, wrong)
	conflict("what waits", held, waiting)
	s.refused("one twice", store.CodeBadRequest, c.nacks(nil, held, held))
	for _, delay := range []time.Duration{-time.Second, store.MaxNackDelay + time.Second} {
		s.refused(fmt.Sprint("a delay of ", delay), store.CodeBadRequest, c.nacks(&delay, held))
	}
	for _, lasts := range []time.Duration{4 * time.Second, time.Hour + time.Second} {
		s.refused(fmt.Sprint("a lease of ", lasts), store.CodeBadRequest, func(tx store.Tx) error {
			return second(store.ExtendLeases(tx, c.key, "whe_p", []store.LeaseOf{held}, lasts))
		})
	}
	for reason, want := range map[string]store.Code{longText + longText: store.CodeBadRequest, "\xff": store.CodeBadRequest} {
		s.refused("a reason", want, func(tx store.Tx) error {
			return store.NackDeliveries(tx, c.key, "whe_p", []store.LeaseOf{held}, reason, nil, nil)
		})
	}
	s.Clock.Move(50 * time.Second)
	s.Code("extending", c.inOrg(func(tx store.Tx) error {
		got, err := store.ExtendLeases(tx, c.key, "whe_p", []store.LeaseOf{held}, 20*time.Second)
		s.Equal("extended", len(got.Claims), 1)
		s.Equal("ends", got.Claims[0].Delivery.Lease(), store.Lease{ID: held.Lease, KeyID: c.key.ID, GrantedAt: tx.Now().Add(-50 * time.Second), EndsAt: tx.Now().Add(20 * time.Second)})
		s.Equal("body", len(got.Claims[0].Body) > 0, true)
		return err
	}), "")
	s.Clock.Move(20*time.Second - time.Millisecond)
	s.Equal("the one that was not extended, and what waited", c.pull(9), ids[1:])
	s.Clock.Move(time.Millisecond)
	conflict("what has ended", held)
	s.Equal("the extended one", c.pull(9), ids[:1])
	conflict("what another has by now", held)
}

// TestReplayOfPulled: what is leased stays so, anything else is handed out again at once.
func TestReplayOfPulled(t *testing.T) { onBoth(t, testReplayOfPulled) }

func testReplayOfPulled(s *subject) {
	s.Seed()
	c := s.newConsumer("whe_p")
	ids := s.sendTests("whe_p", 4)
	s.Equal("pulled", c.pull(3), ids[:3])
	later := time.Hour
	s.Code("giving back", c.nack(&later, c.leases(ids[1])...), "")
	s.Code("acknowledging", c.ack(ids[2]), "")
	before := s.Dump()
	s.Write(replay(ids[0]))
	s.Same("replaying what is leased", s.Dump(), before)
	s.Write(replay(ids[3]))
	s.Same("replaying what waits", s.Dump(), before)
	s.Clock.Move(time.Second)
	s.Write(replay(ids[1]))
	s.Write(replay(ids[2]))
	s.Equal("pulled", c.pull(9), []string{ids[3], ids[1], ids[2]})
	s.Equal("attempts", []int{s.delivery(ids[1]).Attempts, s.delivery(ids[2]).Attempts}, []int{1, 0})
	s.Code("acknowledging again", c.ack(ids...), "")
}
