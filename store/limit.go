package store

import (
	"context"
	"time"

	"teamdata/internal/ratelimit"
)

// Limit is how often something may be done with one id, such as requests with an API
// key.
type Limit struct {
	Name    string        // of what is limited: each has ids of its own
	Max     int           // that are accepted in any window; 0 or less: no limit
	Window  time.Duration // a whole number of milliseconds, positive
	Tracked int           // ids that one process remembers at most, if it counts in memory
}

// Limiter accepts or refuses what is limited, in the exact sliding windows of package
// ratelimit.
type Limiter interface {
	// Take accepts or refuses something done with an id, of any bytes, at now. An
	// engine that nodes share goes by its own clock. unavailable: it could not be
	// counted, and whether it was is unknown; it must not be done then.
	Take(ctx context.Context, id string, now time.Time) (ratelimit.Decision, error)
}

// Limiter returns a limiter that counts in memory.
func (a *Alone) Limiter(l Limit) Limiter {
	return memoryLimiter{ratelimit.New[string](l.Max, l.Window, l.Tracked)}
}

type memoryLimiter struct{ of *ratelimit.Limiter[string] }

func (m memoryLimiter) Take(_ context.Context, id string, now time.Time) (ratelimit.Decision, error) {
	return m.of.Take(id, now), nil
}
