package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"teamdata/store"
)

var errKilled = errors.New("killed")

// killed is a store that ends after some Updates.
type killed struct {
	store.Store
	left int
}

func (k *killed) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	if k.left--; k.left < 0 {
		return errKilled
	}
	return k.Store.Update(ctx, scope, fn)
}

// TestReplayJobKilled: a job that is killed again and again replays each delivery once
// more, also when some fail again meanwhile, and its count is exact.
func TestReplayJobKilled(t *testing.T) { onBoth(t, testReplayJobKilled) }

func testReplayJobKilled(s *subject) {
	endpoint := s.Seed()
	failed, retrying, _ := s.fillForReplay()
	s.Write(func(tx store.Tx) error { return tx.PutLastAcknowledged(endpoint.Number, tx.Now().Add(time.Hour)) })
	want := len(failed) + len(retrying)
	p, err := store.PreviewReplay(s.Context(), s, store.ReplayJob{OrgID: acme}, 10_000)
	s.Code("counting", err, "")
	s.Equal("previewed", []any{p.Total, p.More, p.ByEndpoint["whe_1"]}, []any{want, false, want})
	p, err = store.PreviewReplay(s.Context(), s, store.ReplayJob{OrgID: acme}, want-1)
	s.Code("counting some", err, "")
	s.Equal("previewed up to a limit", []any{p.Total, p.More}, []any{want - 1, true})
	p, err = store.PreviewReplay(s.Context(), s, store.ReplayJob{OrgID: acme, Filter: store.DeliveryFilter{Type: "none"}}, 10_000)
	s.Code("counting none", err, "")
	s.Equal("previewed none of all", []any{p.Total, p.More}, []any{0, false})
	p, err = store.PreviewReplay(s.Context(), s, store.ReplayJob{OrgID: acme, Filter: store.DeliveryFilter{Type: "none"}}, 1)
	s.Code("counting none of some", err, "")
	s.Equal("previewed none of the first", []any{p.Total, p.More}, []any{0, true})

	var j store.ReplayJob
	added := s.newAudit(func() {
		s.Write(func(tx store.Tx) (err error) {
			j, err = store.StartReplay(tx, ada, store.ReplayJob{OrgID: acme, Total: want})
			return err
		})
	})
	s.Equal("audit entries", actions(added), []string{"deliveries.replayed"})
	for kills := 0; ; kills++ {
		err := store.RunReplays(s.Context(), &killed{s, 1})
		if err == nil {
			s.Equal("killed in between", kills > 2, true)
			break
		}
		s.Equal("ends as killed", errors.Is(err, errKilled), true)
		s.Clock.Move(time.Second)
		if again := s.delivery(failed[len(failed)-1-kills]); again.State == store.StatePending { // it fails again
			s.attemptMany([]string{again.ID}, 500, nil, func(int) time.Time { return s.Clock.Now() })
		}
	}
	s.Read(func(tx store.Tx) (err error) {
		j, err = store.FindReplay(tx, acme, j.ID)
		_, errOther := store.FindReplay(tx, other, j.ID)
		s.Code("the job in another org", errOther, store.CodeNotFound)
		return err
	})
	s.Equal("the job", []any{j.State, j.Done, j.Total}, []any{store.ReplayDone, want, want})
	once := 0
	for _, id := range append(failed, retrying...) {
		if d := s.delivery(id); d.State.Waiting() && d.DueAt.Equal(j.CreatedAt) || len(d.History) == 2 {
			once++
		}
	}
	s.Equal("each once more", once, want)
}

// TestReplayJobNamed replays what is named, and stops when it is cancelled.
func TestReplayJobNamed(t *testing.T) { onBoth(t, testReplayJobNamed) }

func testReplayJobNamed(s *subject) {
	s.Seed()
	failed, _, others := s.fillForReplay()
	named := s.startReplay(store.ReplayJob{Deliveries: []string{failed[0], "whd_none", others[0], failed[0], failed[1]}})
	asked := s.startReplay(store.ReplayJob{Filter: store.DeliveryFilter{Query: failed[2]}})
	cancelled := s.startReplay(store.ReplayJob{Filter: store.DeliveryFilter{State: "failed", Endpoint: "whe_1"}})
	s.Write(func(tx store.Tx) error {
		_, err := store.CancelReplay(tx, ada, acme, cancelled)
		return err
	})
	s.Code("running", store.RunReplays(s.Context(), s), "")
	s.Equal("named, each once", s.replayJob(named).Done, 3)
	s.Equal("asked for", s.replayJob(asked).Done, 1)
	s.Equal("cancelled", []any{s.replayJob(cancelled).State, s.replayJob(cancelled).Done}, []any{store.ReplayCancelled, 0})
	s.Equal("still failed", s.delivery(failed[3]).State, store.StateFailed)
}

// TestReplayJobInAMoment: where the clock stands still, what has just failed is replayed
// too, and once more only, also if it fails again in that moment.
func TestReplayJobInAMoment(t *testing.T) { onBoth(t, testReplayJobInAMoment) }

func testReplayJobInAMoment(s *subject) {
	endpoint := s.Seed()
	s.Write(func(tx store.Tx) error { return tx.PutLastAcknowledged(endpoint.Number, tx.Now().Add(time.Hour)) })
	ids := s.sendTests("whe_1", 120)
	justNow := func(int) time.Time { return s.Clock.Now().Add(-time.Second) } // it takes a second
	s.attemptMany(ids, 500, nil, justNow)
	job := s.startReplay(store.ReplayJob{})
	s.Equal("ends as killed", errors.Is(store.RunReplays(s.Context(), &killed{s, 1}), errKilled), true)
	again := s.Claimable()
	s.Equal("some are replayed, not all", len(again) > 0 && len(again) < len(ids), true)
	s.attemptMany(again, 500, nil, justNow)
	s.Code("running", store.RunReplays(s.Context(), s), "")
	j := s.replayJob(job)
	s.Equal("done", []any{j.State, j.Done}, []any{store.ReplayDone, len(ids)})
	s.Equal("due", len(s.Claimable()), len(ids)-len(again))
}

// TestReplayJobChecked: ids that can't be those of deliveries are refused by their place.
func TestReplayJobChecked(t *testing.T) { onBoth(t, testReplayJobChecked) }

func testReplayJobChecked(s *subject) {
	s.Seed()
	for _, wrong := range []string{"", "whe_1", "whd_\x00", "whd_é"} {
		s.refused("replaying "+wrong, store.CodeBadRequest, func(tx store.Tx) error {
			_, err := store.StartReplay(tx, ada, store.ReplayJob{OrgID: acme, Deliveries: []string{"whd_1", wrong}})
			return err
		})
	}
}

// TestReplayJobsAreLimited: an org has 10 jobs that run, and 110 in all, of which the
// oldest make room; those that are over are kept for 7 days.
func TestReplayJobsAreLimited(t *testing.T) { onBoth(t, testReplayJobsAreLimited) }

func testReplayJobsAreLimited(s *subject) {
	s.Seed()
	var ids []string
	start := func(tx store.Tx) error {
		j, err := store.StartReplay(tx, ada, store.ReplayJob{OrgID: acme})
		ids = append(ids, j.ID)
		return err
	}
	kept := func() (kept []string) {
		s.Read(func(tx store.Tx) error {
			jobs, err := tx.ReplayJobs(acme, "", 1000)
			for _, j := range jobs {
				kept = append(kept, j.ID)
			}
			return err
		})
		return kept
	}
	s.Write(func(tx store.Tx) (err error) {
		for i := range 120 {
			if err = errors.Join(err, start(tx)); i < 110 {
				err = errors.Join(err, second(store.CancelReplay(tx, ada, acme, ids[i])))
			}
		}
		return err
	})
	s.Equal("kept", kept(), ids[10:])
	s.refused("one more that runs", store.CodeConflict, start)
	s.Clock.Move(7*day - time.Millisecond)
	s.sweep(day)
	s.Equal("kept until 7 days later", len(kept()), 110)
	s.Clock.Move(time.Millisecond)
	s.sweep(day)
	s.Equal("kept after that", kept(), ids[110:120])
}
