package app

import (
	"context"
	"time"
)

// every calls fn each time that a pause is over, until ctx is done.
func every(ctx context.Context, pause time.Duration, fn func(now time.Time)) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			fn(now)
		}
	}
}
