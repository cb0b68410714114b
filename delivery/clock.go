package delivery

import (
	"context"
	"time"

	"teamdata/internal/hint"
	"teamdata/store"
)

// lookEvery is the longest sleep until a wall-clock time. Timers don't notice
// that the clock was set or the machine suspended.
const lookEvery = 30 * time.Second

// untilLook is how long to sleep before checking whether next has come.
func untilLook(now, next time.Time) time.Duration { return min(next.Sub(now), lookEvery) }

// watchClock reschedules, now and whenever the clock is set back, deliveries that
// would otherwise wait for the clock to catch up.
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

// wallClock is the time without its monotonic part, which is never set back.
func (d *Dispatcher) wallClock() time.Time { return d.config.Now().Round(0) }

// doubt makes watchClock check a due time later than any schedule allows. Such a
// time appears late if an endpoint was disabled when the clock was set back and
// is enabled again.
func (d *Dispatcher) doubt(due, now time.Time) {
	if due.After(store.LatestDue(now, d.config.Schedule)) {
		signal(d.tooLate)
	}
}

func (d *Dispatcher) pullIn(ctx context.Context) {
	n, err := store.PullIn(ctx, d.store, d.config.Now(), d.config.Schedule)
	switch {
	case n > 0:
		d.config.Log.Warn().Int("deliveries", n).Msg("the clock was set back, so deliveries would have waited longer than scheduled; they are due earlier now")
	case err != nil && ctx.Err() == nil:
		d.config.Log.Error().Fields(hint.Fields(err)).Msg("the clock was set back, and waiting deliveries can't be rescheduled")
	}
}
