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
	uses map[usedKey]store.KeyUse
}

type usedKey struct{ org, id string }

// minute is the latest minute of a key's use; only the first request in a minute
// takes keyUse's lock.
type minute struct{ atomic.Int64 }

func (m *minute) begins(now int64) bool { return m.Load() != now && m.Swap(now) != now }

// use records the use of a key, once per minute.
func (u *keyUse) use(key usedKey, last *minute, now time.Time) {
	if last.begins(now.Unix() / 60) {
		u.add(key, store.KeyUse{LastUsedAt: now.Truncate(time.Minute)})
	}
}

func (u *keyUse) add(key usedKey, more store.KeyUse) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.uses == nil {
		u.uses = make(map[usedKey]store.KeyUse)
	}
	use := u.uses[key]
	use.Add(more)
	u.uses[key] = use
}

func (u *keyUse) take() (uses map[usedKey]store.KeyUse) {
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
	var scope store.Scope
	for key := range uses {
		scope.Orgs = append(scope.Orgs, key.org)
	}
	err := s.store.Update(ctx, scope, func(tx store.Tx) error {
		for key, use := range uses {
			if err := store.AddKeyUse(tx, key.id, use); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		for key, use := range uses {
			s.keyUse.add(key, use)
		}
	}
	return err
}
