package delivery

import (
	"context"
	"time"

	"teamdata/internal/hint"
	"teamdata/store"
)

// lookEvery is how long a sleep until a time of the clock may last. Timers don't
// notice that the clock was set, or that the machine was suspended.
const lookEvery = 30 * time.Second

// untilLook is how long to sleep before looking whether it is next yet.
func untilLook(now, next time.Time) time.Duration { return min(next.Sub(now), lookEvery) }

// watchClock pulls in, now and each time that the clock was set back, what would
// wait for the clock to come there again.
func (d *Dispatcher) watchClock(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	signal(d.tooLate)
	last := d.wallClock()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.tooLate:
			d.pullIn(ctx)
		case <-tick.C:
			now := d.wallClock()
			if now.Before(last) {
				d.config.Log.Warn().Time("was", last).Time("is", now).Msg("the clock was set back")
				signal(d.tooLate)
			}
			last = now
		}
	}
}

// wallClock is without the monotonic part, which is never set back.
func (d *Dispatcher) wallClock() time.Time { return d.config.Now().Round(0) }

// doubt has watchClock look after a due time that no schedule gives. It comes late
// when an endpoint was disabled while the clock was set back, and is enabled again.
func (d *Dispatcher) doubt(due, now time.Time) {
	if due.After(store.LatestDue(now, d.config.Schedule)) {
		signal(d.tooLate)
	}
}

func (d *Dispatcher) pullIn(ctx context.Context) {
	n, err := store.PullIn(ctx, d.store, d.config.Now(), d.config.Schedule)
	switch {
	case n > 0:
		d.config.Log.Warn().Int("deliveries", n).Msg("deliveries would have waited longer than the schedule has it, since the clock was set back; they are due earlier now")
	case err != nil && ctx.Err() == nil:
		d.config.Log.Error().Fields(hint.Fields(err)).Msg("deliveries can't be made due earlier, after the clock was set back")
	}
}
