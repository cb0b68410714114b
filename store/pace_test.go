package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/storetest"
)

// onSlowDisk runs a test in a bubble, on a store each of whose commits takes a while.
func onSlowDisk(t *testing.T, commit time.Duration, test func(*subject)) {
	synctest.Test(t, func(t *testing.T) {
		test(&subject{storetest.New(t, func(t testing.TB, path string, now func() time.Time) store.Store {
			s, err := boltstore.Open(path, boltstore.Options{
				Now: now, NoSync: true, MapSize: 64 << 20,
				BeforeCommit: func() error { time.Sleep(commit); return nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			return s
		})})
	})
}

// timed is a store that takes down when its Updates began and ended.
type timed struct {
	store.Store
	began, ended []time.Time
}

func (p *timed) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	p.began = append(p.began, time.Now())
	err := p.Store.Update(ctx, scope, fn)
	p.ended = append(p.ended, time.Now())
	return err
}

// paused holds each Update to begin as long after the one before as that took.
func (s *subject) paused(p *timed) {
	s.Helper()
	for i := range p.ended[1:] {
		took, pause := p.ended[i].Sub(p.began[i]), p.began[i+1].Sub(p.ended[i])
		s.Equal(fmt.Sprintf("the pause after Update %d, which took %s", i, took), pause, took)
	}
}

// TestPace: long work is done in small transactions, with pauses as long as they
// took.
func TestPace(t *testing.T) {
	onSlowDisk(t, 10*time.Millisecond, func(s *subject) {
		endpoint := s.Seed()
		s.attemptMany(s.sendTests("whe_1", 120), 500, nil, func(int) time.Time { return s.Clock.Now() })
		s.Clock.Move(time.Hour)
		replaying := &timed{Store: s}
		s.Equal("replayed", s.replaySince(replaying, epoch), 120)
		s.Equal("updates", len(replaying.ended), 13) // the last finds that nothing waits for a retry
		s.paused(replaying)

		s.attemptMany(s.Listed(endpoint.Number, store.ListWaiting), 200, nil, func(int) time.Time { return s.Clock.Now() })
		s.Clock.Move(day)
		sweeping, dropped := &timed{Store: s}, []string{}
		report := func(kind string, n int) { dropped = append(dropped, fmt.Sprint(n, " ", kind)) }
		s.Code("sweeping", store.Sweep(context.Background(), sweeping, store.Retention{Finished: time.Hour, Held: day, Dropped: report}), "")
		s.Equal("dropped", dropped, []string{"50 finished", "50 finished", "20 finished"})
		s.paused(sweeping)
	})
}

// TestPauseIsLimited: what a disk that is stuck takes isn't taken once more by a pause.
func TestPauseIsLimited(t *testing.T) {
	onSlowDisk(t, 20*time.Second, func(s *subject) {
		s.Seed()
		s.attemptMany(s.sendTests("whe_1", 30), 500, nil, func(int) time.Time { return s.Clock.Now().Add(-time.Hour) })
		s.startReplay(store.ReplayJob{})
		running := &timed{Store: s}
		s.Code("running", store.RunReplays(s.Context(), running), "")
		s.Equal("updates", len(running.ended) > 2, true)
		for i := range running.ended[1:] {
			s.Equal("the pause", running.began[i+1].Sub(running.ended[i]), time.Second)
		}
	})
}

// TestPullInPaces does the same where the clock was set back.
func TestPullInPaces(t *testing.T) {
	onSlowDisk(t, 10*time.Millisecond, func(s *subject) {
		s.Seed()
		s.sendTests("whe_1", 120)
		s.Clock.Move(-day)
		p := &timed{Store: s}
		n, err := store.PullIn(context.Background(), p, s.Clock.Now(), store.DefaultRetrySchedule)
		s.Code("pulling in", err, "")
		s.Equal("pulled in, in updates", []int{n, len(p.ended)}, []int{120, 3})
		s.paused(p)
		s.Equal("due", len(s.Claimable()), 120)
	})
}

// TestPauseEnds: who gives up waits for no pause.
func TestPauseEnds(t *testing.T) {
	onSlowDisk(t, time.Minute, func(s *subject) {
		s.Seed()
		s.attemptMany(s.sendTests("whe_1", 60), 200, nil, func(int) time.Time { return s.Clock.Now() })
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute+time.Second/2)
		defer cancel()
		start := time.Now()
		err := store.Sweep(ctx, s, store.Retention{Finished: -day, Held: day})
		s.Equal("the sweep is broken off", errors.Is(err, context.DeadlineExceeded), true)
		s.Equal("after", time.Since(start), time.Minute+time.Second/2)
	})
}

// TestSweepCatchesUp has more fall due than a sweep drops at its first pace, for
// hours: sweeps come to take as long as it takes to drop that much, and no longer.
// In the end little is left.
func TestSweepCatchesUp(t *testing.T) {
	onSlowDisk(t, 100*time.Second, func(s *subject) {
		const each = 30 // in each commit; a sweep drops 50 in two to four of them
		endpoint := s.Seed()
		var working, came int
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for ctx.Err() == nil {
				s.Write(func(tx store.Tx) (err error) {
					for range each {
						d, errSend := store.SendTest(tx, acme, endpoint.ID)
						_, errDone := attempted(tx, d.ID, tx.Now().Add(-time.Minute), 200, nil)
						err = errors.Join(err, errSend, errDone)
					}
					return err
				})
				came += each
			}
		}()
		time.Sleep(store.SweepEvery)
		largest := 0
		for range 10 {
			limit, cancel := context.WithTimeout(ctx, 2*time.Hour)
			err := store.Sweep(limit, s, store.Retention{Finished: 0, Held: day, Dropped: func(_ string, n int) {
				largest, working = max(largest, n), working+n
			}})
			cancel()
			s.Code("a sweep", err, "")
		}
		stop()
		<-ended
		left := len(s.Listed(endpoint.Number, store.ListAcknowledged))
		s.Equal("dropped and left", working+left, came)
		s.Equal("hurried, but not more than it takes", largest > 50 && largest <= 400, true)
		s.Equal("little is left", left < came/5, true)
		s.Logf("%d came, %d are left; at most %d were dropped at once", came, left, largest)
	})
}

// TestSweepKinds: there is a name for each kind of data that a sweep drops.
func TestSweepKinds(t *testing.T) { onBoth(t, testSweepKinds) }

func testSweepKinds(s *subject) {
	s.Write(storetest.Fill)
	s.try(s.sendTests("whe_2", 2)[0], s.Clock.Now(), 200)
	s.Write(switchEndpoint(acme, "whe_2", false))
	s.Write(removeEndpoint(acme, "whe_1"))
	s.Write(func(tx store.Tx) error {
		return errors.Join(tx.PutReplayJob(store.ReplayJob{ID: "rpl_1", OrgID: acme, State: store.ReplayDone, FinishedAt: tx.Now()}), store.MailOperator(tx, "ops@example.com", "renewal", nil),
			tx.AddIdempotencyRecord(store.IdempotencyRecord{OrgID: acme, Key: "a", FirstUse: tx.Now()}))
	})
	s.Clock.Move(1000 * day)
	dropped := map[string]int{}
	s.Code("sweeping", store.Sweep(context.Background(), s, store.Retention{Dropped: func(kind string, n int) { dropped[kind] += n }}), "")
	s.Equal("kinds", slices.Sorted(maps.Keys(dropped)), slices.Sorted(slices.Values(store.SweepKinds)))
	clear(dropped)
	s.Code("sweeping", store.Sweep(context.Background(), s, store.Retention{Dropped: func(kind string, n int) { dropped[kind] += n }}), "")
	s.Equal("again", len(dropped), 0)
}
