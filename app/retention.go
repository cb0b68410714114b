package app

import (
	"context"
	"sync/atomic"
	"time"

	"teamdata/internal/hint"
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
	wake    chan struct{} // has a token once there is something to drop
}

// Wake starts a sweep, or another after the one that is running.
func (s *sweeps) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
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

// sweepRegularly drops expired data every store.SweepEvery, or more often if deliveries
// are kept for less. The data of deleted orgs it drops at once, also that of orgs that
// were deleted before the start.
func (a *App) sweepRegularly(ctx context.Context) {
	a.sweepRemoved(ctx)
	if a.shared() {
		go every(ctx, removedEvery, func(time.Time) { a.sweepRemoved(ctx) })
	}
	keep := a.retention()
	pause := min(store.SweepEvery, keep.Finished, keep.Held)
	next := time.NewTimer(min(firstSweep, pause))
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		case <-a.sweeps.wake:
		}
		a.sweep(ctx, keep)
		next.Reset(pause)
	}
}

// sweepRemoved starts a sweep if there are deleted orgs.
func (a *App) sweepRemoved(ctx context.Context) {
	err := a.store.View(ctx, func(tx store.Tx) error {
		removed, err := tx.RemovedOrgs(1)
		if len(removed) > 0 {
			a.sweeps.Wake()
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		a.log.Error().Fields(hint.Fields(err)).Msg("deleted orgs can't be read")
	}
}

func (a *App) retention() store.Retention {
	return store.Retention{Finished: a.settings.DeliveryRetention, Held: a.settings.HeldRetention, Dropped: a.sweeps.dropped}
}

func (a *App) sweep(ctx context.Context, keep store.Retention) {
	a.sweeps.began.Store(time.Now().UnixNano())
	err := store.Sweep(ctx, a.store, keep)
	a.sweeps.began.Store(0)
	switch {
	case err == nil:
		a.sweeps.done.Store(time.Now().UnixNano())
	case ctx.Err() == nil:
		a.log.Error().Fields(hint.Fields(err)).Msg("old records can't be dropped")
	}
}
