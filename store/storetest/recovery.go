package storetest

import (
	"context"
	"slices"
	"time"

	"teamdata/store"
)

// many are more than two chunks of long work.
const many = 1203

// interrupted is a store in which something happens after each Update.
type interrupted struct {
	store.Store
	then func()
}

func (i interrupted) Update(ctx context.Context, fn func(store.Tx) error) error {
	err := i.Store.Update(ctx, fn)
	i.then()
	return err
}

func (s *subject) recovered(in store.Store, since time.Time) (n int) {
	s.Helper()
	n, err := store.Recover(context.Background(), in, ada, acme, "whe_1", since)
	s.code("recovering", err, "")
	return n
}

// fillForRecovery has deliveries fail in another order than they were made in,
// between others that were acknowledged, wait for a retry, or were not
// attempted. Attempts end within a second from now on.
func (s *subject) fillForRecovery() (failed, retrying, others []string) {
	s.Helper()
	all := s.sendTests("whe_1", many+30)
	failed, retrying, others = all[:many], all[many:many+10], all[many+10:]
	now := s.clock.now()
	shuffled := func(i int) time.Time { return now.Add(time.Duration(i*7919%1000)*time.Millisecond - time.Second) }
	s.attemptMany(others[:10], 200, nil, func(int) time.Time { return now })
	s.attemptMany(failed, 500, nil, shuffled)
	s.attemptMany(retrying, 500, store.DefaultRetrySchedule, shuffled)
	s.clock.move(10 * time.Second)
	return failed, retrying, others
}

// testRecover recovers everything since the outage, and nothing twice.
func testRecover(s *subject) {
	endpoint := s.seed()
	since := s.clock.now()
	failed, retrying, others := s.fillForRecovery()
	acknowledged := s.listed(endpoint.Number, store.ListAcknowledged)
	pending := others[10:]
	var n int
	added := s.newAudit(func() { n = s.recovered(s, since) })
	s.equal("recovered", n, len(failed)+len(retrying))
	s.equal("audit entries", actions(added), []string{"endpoint.recovered"})
	s.shows("the audit entry", added, `"actorId":"usr_ada"`, `"targetId":"whe_1"`)
	s.equal("still failed", s.listed(endpoint.Number, store.ListFailed), []string{})
	s.equal("still acknowledged", s.listed(endpoint.Number, store.ListAcknowledged), acknowledged)

	d := s.delivery(failed[5])
	s.equal("a failed one begins anew", []any{d.State, d.Attempts, d.FirstAttemptAt, d.FinishedAt, d.DueAt, len(d.History)},
		[]any{store.StatePending, 0, time.Time{}, time.Time{}, s.clock.now(), 1})
	d = s.delivery(retrying[5])
	s.equal("a retrying one goes on", []any{d.State, d.Attempts, d.DueAt, len(d.History)},
		[]any{store.StateRetrying, 1, s.clock.now(), 1})
	claims, err := s.Claim(context.Background(), endpoint.Number, s.clock.now(), 10_000)
	s.code("claim", err, "")
	s.equal("due first what was never attempted, then all in the order of its creation",
		deliveryIDs(claims), slices.Concat(pending, failed, retrying))

	added = s.newAudit(func() { n = s.recovered(s, since) })
	s.equal("recovered again", n, 0)
	s.equal("audit entries of that", added, "")
	for what, where := range map[string]pair{"another org's endpoint": {other, "whe_1"}, "no endpoint": {acme, "whe_none"}} {
		n, err := store.Recover(context.Background(), s, ada, where.a, where.b, since)
		s.code("recovering "+what, err, store.CodeNotFound)
		s.equal("recovered of "+what, n, 0)
	}
}

// testRecoverSince: what was attempted last before the bound stays as it is.
func testRecoverSince(s *subject) {
	s.seed()
	s.attemptMany(s.sendTests("whe_1", 1), 200, nil, func(int) time.Time { return s.clock.now().Add(time.Hour) })
	since := s.clock.now()
	ended := []time.Duration{-time.Hour, -time.Millisecond, 0, time.Millisecond, 300 * time.Microsecond, time.Hour}
	at := func(i int) time.Time { return since.Add(ended[i] - time.Second) } // when it starts
	failed, retrying := s.sendTests("whe_1", len(ended)), s.sendTests("whe_1", len(ended))
	s.attemptMany(failed, 500, nil, at)
	s.attemptMany(retrying, 500, []time.Duration{24 * time.Hour}, at)
	s.clock.move(2 * time.Hour)
	n := s.recovered(s, since)
	s.equal("recovered", n, 8)
	s.equal("due", s.claim(), slices.Concat(failed[2:], retrying[2:]))
	s.equal("a failed one of before", s.delivery(failed[1]).State, store.StateFailed)
	s.equal("a retrying one of before", s.delivery(retrying[1]).DueAt, since.Add(24*time.Hour-time.Millisecond))
}

// testRecoverShortAttempt: an attempt that ends in the millisecond of the bound
// counts, also when it began before that and took less than one.
func testRecoverShortAttempt(s *subject) {
	s.seed()
	s.update(func(tx store.Tx) error { return tx.PutLastAcknowledged(1, tx.Now().Add(time.Hour)) })
	since := s.clock.now()
	id := s.sendTests("whe_1", 1)[0]
	start := since.Add(-100 * time.Microsecond)
	s.update(func(tx store.Tx) error {
		_, err := store.RecordAttempt(tx, id, store.Attempt{StartedAt: start, EndedAt: start.Add(300 * time.Microsecond), Reason: "no"}, nil)
		return err
	})
	s.clock.move(time.Second)
	s.equal("finished at", s.delivery(id).FinishedAt, since)
	s.equal("recovered", s.recovered(s, since), 1)
}

// testRecoverMeanwhile: what is recovered may fail again before all is
// recovered. It is left alone then.
func testRecoverMeanwhile(s *subject) {
	endpoint := s.seed()
	since := s.clock.now()
	failed, retrying, _ := s.fillForRecovery()
	s.update(func(tx store.Tx) error { return tx.PutLastAcknowledged(endpoint.Number, tx.Now().Add(time.Hour)) })
	var again []string
	meanwhile := func() {
		for _, id := range s.claim() {
			if d := s.delivery(id); len(d.History) == 1 && len(again) < 4 && !slices.Contains(again, id) {
				again = append(again, id)
				ended := s.clock.now().Add(time.Duration(len(again)%2) * time.Millisecond)
				s.attemptMany([]string{id}, 500, nil, func(int) time.Time { return ended.Add(-time.Second) })
				break
			}
		}
	}
	n := s.recovered(interrupted{s, meanwhile}, since)
	s.equal("recovered", n, len(failed)+len(retrying))
	s.equal("failed meanwhile", len(again) > 2, true)
	for _, id := range again {
		s.equal("failed again", s.delivery(id).State, store.StateFailed)
	}
	s.clock.move(time.Second)
	s.equal("recovered by another call", s.recovered(s, since), len(again))
}

// testRecoverAtADisabledEndpoint: it is all held.
func testRecoverAtADisabledEndpoint(s *subject) {
	s.seed()
	since := s.clock.now()
	ids := s.sendTests("whe_1", 2)
	s.equal("disabled", s.failAll(ids[0]), true)
	s.clock.move(time.Hour)
	s.equal("recovered", s.recovered(s, since), 1)
	s.statesAt(ids, store.StateHeld, store.StateHeld)
	s.equal("due", s.claim(), []string{})
}
