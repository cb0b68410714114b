package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// keyUse is when keys were used last, to the minute, as far as the store does not
// know of it. Its zero value is ready.
type keyUse struct {
	mu   sync.Mutex
	last map[string]time.Time // by the key's id
}

// noted is the minute in which a key was noted last, so that the other requests
// of that minute pass by.
type noted struct{ minute atomic.Int64 }

func (n *noted) before(minute int64) bool {
	return n.minute.Load() != minute && n.minute.Swap(minute) != minute
}

// note notes that a key was used, once for each minute.
func (u *keyUse) note(id string, n *noted, now time.Time) {
	if n.before(now.Unix() / 60) {
		u.put(map[string]time.Time{id: now.Truncate(time.Minute)})
	}
}

// put adds uses, but to keys that were used since.
func (u *keyUse) put(uses map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = make(map[string]time.Time)
	}
	for id, at := range uses {
		if at.After(u.last[id]) {
			u.last[id] = at
		}
	}
}

func (u *keyUse) take() (uses map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	uses, u.last = u.last, nil
	return uses
}

// KeepKeyUse writes when keys were used last, if that has changed since the last
// call. What could not be written is written by the next. It is to be called once
// a minute, and after Shutdown.
func (s *Server) KeepKeyUse(ctx context.Context) error {
	uses := s.keyUse.take()
	if len(uses) == 0 {
		return nil
	}
	err := s.store.Update(ctx, func(tx store.Tx) error {
		for id, at := range uses {
			if err := tx.PutKeyLastUsed(id, at); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.keyUse.put(uses)
	}
	return err
}
