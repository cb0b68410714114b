package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// keyUse is how keys were used, as far as the store doesn't know it yet. Its zero
// value is ready.
type keyUse struct {
	mu   sync.Mutex
	uses map[string]store.KeyUse // by the key's id
}

// minute is the latest minute of a key's use, so that only the first request of a
// minute takes the lock of keyUse.
type minute struct{ atomic.Int64 }

func (m *minute) begins(now int64) bool { return m.Load() != now && m.Swap(now) != now }

// use adds that a key was used, once for each minute.
func (u *keyUse) use(id string, last *minute, now time.Time) {
	if last.begins(now.Unix() / 60) {
		u.add(id, store.KeyUse{LastUsedAt: now.Truncate(time.Minute)})
	}
}

func (u *keyUse) add(id string, more store.KeyUse) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.uses == nil {
		u.uses = make(map[string]store.KeyUse)
	}
	use := u.uses[id]
	use.Add(more)
	u.uses[id] = use
}

func (u *keyUse) take() (uses map[string]store.KeyUse) {
	u.mu.Lock()
	defer u.mu.Unlock()
	uses, u.uses = u.uses, nil
	return uses
}

// KeepKeyUse writes how keys were used since the last call, if they were. What
// could not be written is written by the next call. Call it once a minute, and
// after Shutdown.
func (s *Server) KeepKeyUse(ctx context.Context) error {
	uses := s.keyUse.take()
	if len(uses) == 0 {
		return nil
	}
	err := s.store.Update(ctx, func(tx store.Tx) error {
		for id, use := range uses {
			if err := store.AddKeyUse(tx, id, use); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		for id, use := range uses {
			s.keyUse.add(id, use)
		}
	}
	return err
}
