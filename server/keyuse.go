package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// keyUse is the use of keys that is not yet in the store. The zero value is ready
// to use.
type keyUse struct {
	mu   sync.Mutex
	uses map[string]store.KeyUse // by the key's id
}

// minute is the latest minute of a key's use; only the first request in a minute
// takes keyUse's lock.
type minute struct{ atomic.Int64 }

func (m *minute) begins(now int64) bool { return m.Load() != now && m.Swap(now) != now }

// use records the use of a key, once per minute.
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

// KeepKeyUse writes the use of keys since the last call. After an error the next
// call writes it. Call it once a minute, and after Shutdown.
func (s *Server) KeepKeyUse(ctx context.Context) error {
	uses := s.keyUse.take()
	if len(uses) == 0 {
		return nil
	}
	err := s.store.Update(ctx, store.All, func(tx store.Tx) error {
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
