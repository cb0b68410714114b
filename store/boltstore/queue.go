package boltstore

import (
	"context"
	"time"

	"teamdata/store"
	"teamdata/store/engine"
)

// EachDue goes from one endpoint's waiting list to the next endpoint's.
func (s *Store) EachDue(ctx context.Context, fn func(endpoint uint64, due time.Time)) error {
	return s.view(func(t *tx) error {
		return t.EachWaiting(ctx, func(e store.Busy) {
			if !e.Disabled() && !e.Pull() {
				fn(e.Number, e.DueAt)
			}
		})
	})
}

// Claim claims due deliveries, in memory: the engine is the sole owner of its file.
func (s *Store) Claim(_ context.Context, endpoint uint64, now time.Time, limit int) (store.Claims, error) {
	return s.Claims.Claim(func(fn func(engine.Waiting) error) error {
		return s.view(func(t *tx) error { return fn(waiting{t, endpoint}) })
	}, now, limit)
}

// waiting is an endpoint's waiting list in a snapshot.
type waiting struct {
	*tx
	endpoint uint64
}

func (w waiting) Walk(offer func(store.Cursor) bool) (store.Endpoint, error) {
	return w.WalkWaiting(w.endpoint, offer)
}

func (w waiting) Load(at []store.Cursor) ([]store.Claim, error) { return w.LoadClaims(at) }
