package app

import (
	"context"
	"time"

	"teamdata/internal/hint"
	"teamdata/store"
)

// replaysEvery is how often the node that retries deliveries looks for jobs that others
// started, or tries again after an error.
const replaysEvery = time.Second

// replays has a token once a job was started here.
type replays chan struct{}

// Wake starts the jobs that were created by now.
func (w replays) Wake() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// replayRegularly does the jobs that retry many deliveries: at the start those that an
// earlier process left, then each as it is created.
func (a *App) replayRegularly(ctx context.Context) {
	tick := time.NewTicker(replaysEvery)
	defer tick.Stop()
	for {
		if err := store.RunReplays(ctx, a.store); err != nil && ctx.Err() == nil {
			a.log.Error().Fields(hint.Fields(err)).Msg("deliveries can't be replayed; it is tried again")
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-a.replays:
		}
	}
}
