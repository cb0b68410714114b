package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// Claims are the deliveries that this process attempts. The zero value is ready to use.
type Claims struct {
	mu       sync.Mutex
	claimed  map[string]bool // by id: whether it was written since, and waits
	released atomic.Uint64   // number of releases
}

// Waiting is a snapshot of what waits for one endpoint.
type Waiting interface {
	// Walk offers the positions of waiting deliveries, earliest first, until offer
	// returns false. That of a disabled or removed endpoint offers none.
	Walk(offer func(at store.Cursor) (more bool)) (store.Endpoint, error)
	// Still returns those of some positions at which a delivery still waits, in order.
	Still(at []store.Cursor) ([]store.Cursor, error)
	// Load loads the deliveries at positions that this snapshot has.
	Load(at []store.Cursor) ([]store.Claim, error)
}

// Claim claims up to limit deliveries that are due at now in a snapshot. They may have
// been attempted and released since. If anything was released meanwhile, it looks at
// the claimed ones in a later snapshot, which shows that.
func (c *Claims) Claim(view func(func(Waiting) error) error, now time.Time, limit int) (store.Claims, error) {
	for {
		var claims store.Claims
		var taken []store.Cursor
		current, released := true, c.released.Load()
		err := view(func(w Waiting) (err error) {
			taken, err = c.take(w, &claims, now, limit)
			if current = c.released.Load() == released; err == nil && current {
				claims.Claims, err = w.Load(taken)
			}
			return err
		})
		if err == nil && !current && len(taken) > 0 {
			var still []store.Cursor
			err = view(func(w Waiting) (err error) {
				if still, err = w.Still(taken); err == nil {
					claims.Claims, err = w.Load(still)
				}
				return err
			})
			if err == nil {
				c.releaseOthers(taken, still)
			}
		}
		if err != nil {
			c.releaseOthers(taken, nil)
			return store.Claims{}, err
		}
		if len(claims.Claims) > 0 || len(taken) == 0 {
			return claims, nil
		}
	}
}

// take walks what waits and returns the positions of what it claimed.
func (c *Claims) take(w Waiting, claims *store.Claims, now time.Time, limit int) (taken []store.Cursor, err error) {
	claims.Endpoint, err = w.Walk(func(at store.Cursor) (more bool) {
		due := time.UnixMilli(int64(at.Ms))
		switch claimed, again := c.isClaimed(at.ID); {
		case claimed:
			claims.Again = claims.Again || again
		case len(taken) == limit || due.After(now):
			claims.Next = due
			return false
		case c.add(at.ID):
			taken = append(taken, at)
		}
		return true
	})
	return taken, err
}

func (c *Claims) isClaimed(id string) (claimed, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	again, claimed = c.claimed[id]
	return claimed, again
}

func (c *Claims) add(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.claimed[id]; taken {
		return false
	}
	if c.claimed == nil {
		c.claimed = make(map[string]bool)
	}
	c.claimed[id] = false
	return true
}

// releaseOthers releases those of taken that are not kept. Both are in order.
func (c *Claims) releaseOthers(taken, kept []store.Cursor) {
	for _, at := range taken {
		if len(kept) > 0 && kept[0] == at {
			kept = kept[1:]
		} else {
			c.Release(at.ID)
		}
	}
}

// Release releases a claimed delivery.
func (c *Claims) Release(deliveryID string) {
	c.released.Add(1) // before it can be claimed again
	c.mu.Lock()
	delete(c.claimed, deliveryID)
	c.mu.Unlock()
}

// note notes that deliveries were written, and wait.
func (c *Claims) note(ids []string) {
	if len(ids) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if _, claimed := c.claimed[id]; claimed {
			c.claimed[id] = true
		}
	}
}
