package engine

import (
	"sync"
	"time"

	"teamdata/store"
)

// maxRecent is how many releases are remembered at most.
const maxRecent = 4096

// Claims are the deliveries that this process attempts. The zero value is ready to use.
type Claims struct {
	mu      sync.Mutex
	claimed map[string]bool // by id: whether it was written since, and waits

	// Releases are numbered and remembered while something is looked for: a snapshot
	// from before one may show the delivery as it was before its outcome.
	looking   int
	releases  uint64
	recent    map[string]uint64 // by id
	forgotten uint64            // up to this number
}

// Waiting is a snapshot of what waits for one endpoint.
type Waiting interface {
	// Walk offers the positions of waiting deliveries, earliest first, until offer
	// returns false. That of a disabled or removed endpoint offers none.
	Walk(offer func(at store.Cursor) (more bool)) (store.Endpoint, error)
	// Load loads deliveries that were offered, in their order.
	Load(at []store.Cursor) ([]store.Claim, error)
}

// Claim claims up to limit deliveries that are due at now in a snapshot. Those that
// were released since it was taken may have been attempted, and are left for the next
// Claim.
func (c *Claims) Claim(view func(func(Waiting) error) error, now time.Time, limit int) (store.Claims, error) {
	for {
		var claims store.Claims
		var taken []store.Cursor
		left := false
		since := c.look()
		err := view(func(w Waiting) (err error) {
			if taken, left, err = c.take(w, since, &claims, now, limit); err == nil && len(taken) > 0 {
				claims.Claims, err = w.Load(taken)
			}
			return err
		})
		c.looked()
		if err != nil {
			for _, at := range taken {
				c.Release(at.ID)
			}
			return store.Claims{}, err
		}
		if len(taken) > 0 || !left {
			return claims, nil
		}
	}
}

// take walks what waits and returns the positions of what it claimed, and whether it
// left anything that is due to the next Claim.
func (c *Claims) take(w Waiting, since uint64, claims *store.Claims, now time.Time, limit int) (taken []store.Cursor, left bool, err error) {
	claims.Endpoint, err = w.Walk(func(at store.Cursor) (more bool) {
		due := time.UnixMilli(int64(at.Ms))
		claimed, again := c.isClaimed(at.ID)
		switch {
		case claimed:
			claims.Again = claims.Again || again
			return true
		case len(taken) < limit && !due.After(now):
			if c.add(at.ID, since) {
				taken = append(taken, at)
				return true
			}
			left = true
		}
		if claims.Next.IsZero() {
			claims.Next = due
		}
		return len(taken) < limit && !due.After(now)
	})
	return taken, left, err
}

// IsClaimed reports whether a delivery is claimed.
func (c *Claims) IsClaimed(id string) bool {
	claimed, _ := c.isClaimed(id)
	return claimed
}

func (c *Claims) isClaimed(id string) (claimed, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	again, claimed = c.claimed[id]
	return claimed, again
}

// add claims a delivery, unless it is claimed or was released since.
func (c *Claims) add(id string, since uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.claimed[id]; taken || c.recent[id] > since || c.forgotten > since {
		return false
	}
	if c.claimed == nil {
		c.claimed = make(map[string]bool)
	}
	c.claimed[id] = false
	return true
}

// look begins to look for something, until looked, and returns the number of the last
// release.
func (c *Claims) look() (since uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looking++
	return c.releases
}

func (c *Claims) looked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.looking--; c.looking == 0 {
		clear(c.recent)
	}
}

// Release releases a claimed delivery.
func (c *Claims) Release(deliveryID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.claimed, deliveryID)
	if c.looking == 0 {
		return
	}
	c.releases++
	if len(c.recent) == maxRecent {
		clear(c.recent)
		c.forgotten = c.releases
	}
	if c.recent == nil {
		c.recent = make(map[string]uint64)
	}
	c.recent[deliveryID] = c.releases
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
