package store_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"teamdata/store"
)

// startReplay starts a job of acme's.
func (s *subject) startReplay(j store.ReplayJob) (id string) {
	s.Helper()
	j.OrgID = acme
	s.Write(func(tx store.Tx) error {
		started, err := store.StartReplay(tx, ada, j)
		id = started.ID
		return err
	})
	return id
}

// replayJob is how far a job of acme's is.
func (s *subject) replayJob(id string) (j store.ReplayJob) {
	s.Helper()
	s.Read(func(tx store.Tx) (err error) {
		j, err = store.FindReplay(tx, acme, id)
		return err
	})
	return j
}

// replaySince replays what whe_1 did not get since a time, and returns how many
// deliveries that were.
func (s *subject) replaySince(in store.Store, since time.Time) int {
	s.Helper()
	id := s.startReplay(store.ReplayJob{Filter: store.DeliveryFilter{Endpoint: "whe_1", Since: since}})
	s.Code("replaying", store.RunReplays(s.Context(), in), "")
	j := s.replayJob(id)
	s.Equal("the job", j.State, store.ReplayDone)
	return j.Done
}

// fillForReplay has deliveries fail in another order than they were made in,
// between others that were acknowledged, wait for a retry, or were not
// attempted. Attempts end within a second from now on.
func (s *subject) fillForReplay() (failed, retrying, others []string) {
	s.Helper()
	all := s.sendTests("whe_1", many+30)
	failed, retrying, others = all[:many], all[many:many+10], all[many+10:]
	now := s.Clock.Now()
	shuffled := func(i int) time.Time { return now.Add(time.Duration(i*7919%1000)*time.Millisecond - time.Second) }
	s.attemptMany(others[:10], 200, nil, func(int) time.Time { return now })
	s.attemptMany(failed, 500, nil, shuffled)
	s.attemptMany(retrying, 500, store.DefaultRetrySchedule, shuffled)
	s.Clock.Move(10 * time.Second)
	return failed, retrying, others
}

// TestReplaySince replays everything since the outage, and nothing twice.
func TestReplaySince(t *testing.T) { onBoth(t, testReplaySince) }

func testReplaySince(s *subject) {
	endpoint := s.Seed()
	since := s.Clock.Now()
	failed, retrying, others := s.fillForReplay()
	acknowledged := s.Listed(endpoint.Number, store.ListAcknowledged)
	pending := others[10:]
	var n int
	added := s.newAudit(func() { n = s.replaySince(s, since) })
	s.Equal("replayed", n, len(failed)+len(retrying))
	s.Equal("audit entries", actions(added), []string{"deliveries.replayed"})
	s.shows("the audit entry", added, `"actorId":"usr_ada"`, `"targetId":"rpl_`)
	s.Equal("still failed", s.Listed(endpoint.Number, store.ListFailed), []string{})
	s.Equal("still acknowledged", s.Listed(endpoint.Number, store.ListAcknowledged), acknowledged)

	d := s.delivery(failed[5])
	s.Equal("a failed one begins anew", []any{d.State, d.Attempts, d.FirstAttemptAt, d.FinishedAt, d.DueAt, len(d.History)},
		[]any{store.StatePending, 0, time.Time{}, time.Time{}, s.Clock.Now(), 1})
	d = s.delivery(retrying[5])
	s.Equal("a retrying one goes on", []any{d.State, d.Attempts, d.DueAt, len(d.History)},
		[]any{store.StateRetrying, 1, s.Clock.Now(), 1})
	claims, err := s.Claim(context.Background(), endpoint.Number, s.Clock.Now(), 10_000)
	s.Code("claim", err, "")
	s.Equal("due first what was never attempted, then all in the order of its creation",
		deliveryIDs(claims), slices.Concat(pending, failed, retrying))

	s.Equal("replayed again", s.replaySince(s, since), 0)
	for what, where := range map[string]pair{"another org's endpoint": {other, "whe_1"}, "no endpoint": {acme, "whe_none"}} {
		s.refused("replaying "+what, store.CodeNotFound, func(tx store.Tx) error {
			_, err := store.StartReplay(tx, ada, store.ReplayJob{OrgID: where.a, Filter: store.DeliveryFilter{Endpoint: where.b, Since: since}})
			return err
		})
	}
}

// TestReplaySinceBound: what was attempted last before the bound stays as it is.
func TestReplaySinceBound(t *testing.T) { onBoth(t, testReplaySinceBound) }

func testReplaySinceBound(s *subject) {
	s.Seed()
	s.attemptMany(s.sendTests("whe_1", 1), 200, nil, func(int) time.Time { return s.Clock.Now().Add(time.Hour) })
	since := s.Clock.Now()
	ended := []time.Duration{-time.Hour, -time.Millisecond, 0, time.Millisecond, 300 * time.Microsecond, time.Hour}
	at := func(i int) time.Time { return since.Add(ended[i] - time.Second) } // when it starts
	failed, retrying := s.sendTests("whe_1", len(ended)), s.sendTests("whe_1", len(ended))
	s.attemptMany(failed, 500, nil, at)
	s.attemptMany(retrying, 500, []time.Duration{24 * time.Hour}, at)
	s.Clock.Move(2 * time.Hour)
	n := s.replaySince(s, since)
	s.Equal("replayed", n, 8)
	s.Equal("due", s.Claimable(), slices.Concat(failed[2:], retrying[2:]))
	s.Equal("a failed one of before", s.delivery(failed[1]).State, store.StateFailed)
	s.Equal("a retrying one of before", s.delivery(retrying[1]).DueAt, since.Add(24*time.Hour-time.Millisecond))
}

// TestReplayShortAttempt: an attempt that ends in the millisecond of the bound
// counts, also when it began before that and took less than one.
func TestReplayShortAttempt(t *testing.T) { onBoth(t, testReplayShortAttempt) }

func testReplayShortAttempt(s *subject) {
	s.Seed()
	s.Write(func(tx store.Tx) error { return tx.PutLastAcknowledged(1, tx.Now().Add(time.Hour)) })
	since := s.Clock.Now()
	id := s.sendTests("whe_1", 1)[0]
	start := since.Add(-100 * time.Microsecond)
	s.Write(func(tx store.Tx) error {
		_, err := store.RecordAttempt(tx, id, store.Attempt{StartedAt: start, EndedAt: start.Add(300 * time.Microsecond), Reason: "no"}, nil)
		return err
	})
	s.Clock.Move(time.Second)
	s.Equal("finished at", s.delivery(id).FinishedAt, since)
	s.Equal("replayed", s.replaySince(s, since), 1)
}

// TestReplayMeanwhile: what is replayed may fail again before all is
// replayed. It is left alone then.
func TestReplayMeanwhile(t *testing.T) { onBoth(t, testReplayMeanwhile) }

func testReplayMeanwhile(s *subject) {
	endpoint := s.Seed()
	since := s.Clock.Now()
	failed, retrying, _ := s.fillForReplay()
	s.Write(func(tx store.Tx) error { return tx.PutLastAcknowledged(endpoint.Number, tx.Now().Add(time.Hour)) })
	var again []string
	meanwhile := func() {
		for _, id := range s.Claimable() {
			if d := s.delivery(id); len(d.History) == 1 && len(again) < 4 && !slices.Contains(again, id) {
				again = append(again, id)
				ended := s.Clock.Now().Add(time.Duration(len(again)%2) * time.Millisecond)
				s.attemptMany([]string{id}, 500, nil, func(int) time.Time { return ended.Add(-time.Second) })
				break
			}
		}
	}
	n := s.replaySince(interrupted{s, meanwhile}, since)
	s.Equal("replayed", n, len(failed)+len(retrying))
	s.Equal("failed meanwhile", len(again) > 2, true)
	for _, id := range again {
		s.Equal("failed again", s.delivery(id).State, store.StateFailed)
	}
	s.Clock.Move(time.Second)
	s.Equal("replayed by another job", s.replaySince(s, since), len(again))
}

// TestReplaySinceAtADisabledEndpoint: it is all held.
func TestReplaySinceAtADisabledEndpoint(t *testing.T) { onBoth(t, testReplaySinceAtADisabledEndpoint) }

func testReplaySinceAtADisabledEndpoint(s *subject) {
	s.Seed()
	since := s.Clock.Now()
	ids := s.sendTests("whe_1", 2)
	s.Equal("disabled", s.failAll(ids[0]), true)
	s.Clock.Move(time.Hour)
	s.Equal("replayed", s.replaySince(s, since), 1)
	s.statesAt(ids, store.StateHeld, store.StateHeld)
	s.Equal("due", s.Claimable(), []string{})
}
