package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// keyUse is when keys were used last, to the minute, as far as the store doesn't
// know it yet. Its zero value is ready.
type keyUse struct {
	mu   sync.Mutex
	last map[string]time.Time // by the key's id
}

// minute is the latest minute of a key's use, so that only the first request of a
// minute takes the lock of keyUse.
type minute struct{ atomic.Int64 }

func (m *minute) begins(now int64) bool { return m.Load() != now && m.Swap(now) != now }

// add adds that a key was used, once for each minute.
func (u *keyUse) add(id string, last *minute, now time.Time) {
	if last.begins(now.Unix() / 60) {
		u.put(map[string]time.Time{id: now.Truncate(time.Minute)})
	}
}

// put adds uses, except to keys that were used since.
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
// call. What could not be written is written by the next call. Call it once a
// minute, and after Shutdown.
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
