package app

import (
	"context"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// firstSweep is how long after the start expired data is first dropped: a restart
// has other things to do at once.
const firstSweep = 30 * time.Second

// sweeps is the state of the sweeps, for the metrics. Its times are in Unix
// nanoseconds; 0 is none.
type sweeps struct {
	began   atomic.Int64 // of the running one
	done    atomic.Int64 // when one last left nothing to drop
	dropped func(kind string, n int)
	waker
}

// state returns how long a sweep has been running, and when one was last done.
func (s *sweeps) state() (running time.Duration, done time.Time) {
	if began := s.began.Load(); began != 0 {
		running = time.Since(time.Unix(0, began))
	}
	if at := s.done.Load(); at != 0 {
		done = time.Unix(0, at)
	}
	return running, done
}

// removedEvery is how often the node that drops data looks for orgs that others deleted.
const removedEvery = 5 * time.Second

// sweepJobs drop expired data every store.SweepEvery, or more often if deliveries
// are kept for less. The data of deleted orgs is dropped at once, also that of orgs that
// were deleted before the start.
func (a *App) sweepJobs() []job {
	keep := a.retention()
	pause := min(store.SweepEvery, keep.Finished, keep.Held)
	removed := job{do: a.wakeForRemoved, failed: "deleted orgs can't be read"}
	if a.shared() {
		removed.pause = removedEvery
	}
	return []job{removed, {
		first: min(firstSweep, pause), next: func() time.Duration { return pause }, wake: a.sweeps.waker,
		do: func(ctx context.Context) error { return a.sweep(ctx, keep) }, failed: "old records can't be dropped",
	}}
}

// wakeForRemoved starts a sweep if there are deleted orgs.
func (a *App) wakeForRemoved(ctx context.Context) error {
	return a.store.View(ctx, func(tx store.Tx) error {
		removed, err := tx.RemovedOrgs(1)
		if len(removed) > 0 {
			a.sweeps.Wake()
		}
		return err
	})
}

func (a *App) retention() store.Retention {
	return store.Retention{Finished: a.settings.DeliveryRetention, Held: a.settings.HeldRetention, Dropped: a.sweeps.dropped, Mailed: func() { a.mailer.Wake() }}
}

func (a *App) sweep(ctx context.Context, keep store.Retention) error {
	a.sweeps.began.Store(time.Now().UnixNano())
	err := store.Sweep(ctx, a.store, keep)
	a.sweeps.began.Store(0)
	if err == nil {
		a.sweeps.done.Store(time.Now().UnixNano())
	}
	return err
}
