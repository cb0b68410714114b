package boltstore

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// OnDue sets the function that is called when deliveries become due.
func (s *Store) OnDue(fn func(endpoint uint64, due time.Time)) { s.onDue.Store(&fn) }

// EachDue goes from one endpoint's waiting list to the next endpoint's.
func (s *Store) EachDue(ctx context.Context, fn func(endpoint uint64, due time.Time)) error {
	return s.view(func(t *tx) error {
		return t.eachWaiting(ctx, func(e store.Endpoint, first dueAt) {
			if !e.Disabled() {
				fn(first.endpoint, first.at)
			}
		})
	})
}

// eachWaiting calls fn for each endpoint with waiting deliveries, in order of
// number, with the earliest due time. Removed endpoints are skipped. Secrets stay
// sealed.
func (t *tx) eachWaiting(ctx context.Context, fn func(e store.Endpoint, first dueAt)) error {
	c := t.bolt.Bucket(bucketDeliveryLists).Cursor()
	for key, _ := c.First(); key != nil; {
		if err := ctx.Err(); err != nil {
			return err
		}
		number, _, _ := readPlaceKey(key)
		if first, ok := t.firstDue(number); ok {
			e, err := t.sealedEndpoint(number)
			if err == nil {
				fn(e, first)
			} else if !store.IsNotFound(err) {
				return err
			}
		}
		key, _ = c.Seek(numberKey(number + 1))
	}
	return nil
}

// Claim claims due deliveries. Those in its snapshot may have been attempted and
// released since. If anything was released meanwhile, it reads the claimed ones
// again in a later snapshot, which shows that.
func (s *Store) Claim(ctx context.Context, endpoint uint64, now time.Time, limit int) (store.Claims, error) {
	for {
		var keys [][]byte
		var claims store.Claims
		current, released := true, s.released.Load()
		err := s.view(func(t *tx) (err error) {
			keys, err = t.claim(&claims, endpoint, now, limit)
			if current = s.released.Load() == released; err == nil && current {
				err = t.load(&claims, keys)
			}
			return err
		})
		if err == nil && !current && len(keys) > 0 {
			err = s.view(func(t *tx) error { return t.load(&claims, t.stillDue(keys)) })
		}
		if err != nil {
			for _, key := range keys {
				s.releaseKey(key)
			}
			return store.Claims{}, err
		}
		if len(claims.Claims) > 0 || len(keys) == 0 {
			return claims, nil
		}
	}
}

func (s *Store) releaseKey(key []byte) {
	_, _, at := readPlaceKey(key)
	s.Release(at.ID)
}

// claim walks the endpoint's waiting list and returns the keys of what it
// claimed.
func (t *tx) claim(claims *store.Claims, endpoint uint64, now time.Time, limit int) (keys [][]byte, err error) {
	claims.Endpoint, err = t.endpointByNumber(endpoint)
	if store.IsNotFound(err) || err == nil && claims.Endpoint.Disabled() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	prefix := listStart(endpoint, store.ListWaiting)
	c := t.bolt.Bucket(bucketDeliveryLists).Cursor()
	for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Next() {
		_, _, at := readPlaceKey(key)
		due := time.UnixMilli(int64(at.Ms))
		switch claimed, again := t.s.isClaimed(at.ID); {
		case claimed:
			claims.Again = claims.Again || again
		case len(keys) == limit || due.After(now):
			claims.Next = due
			return keys, nil
		case t.s.claim(at.ID):
			keys = append(keys, bytes.Clone(key))
		}
	}
	return keys, nil
}

// stillDue releases claimed deliveries that are no longer due, and returns the keys
// of the others.
func (t *tx) stillDue(keys [][]byte) (due [][]byte) {
	b := t.bolt.Bucket(bucketDeliveryLists)
	for _, key := range keys {
		if b.Get(key) != nil {
			due = append(due, key)
		} else {
			t.s.releaseKey(key)
		}
	}
	return due
}

// load loads the claimed deliveries.
func (t *tx) load(claims *store.Claims, keys [][]byte) error {
	claims.Claims = make([]store.Claim, 0, len(keys))
	for _, key := range keys {
		_, _, at := readPlaceKey(key)
		r, err := t.deliveryRecord(at.ID)
		if err == nil && len(r.Body) == 0 {
			var e store.Event
			e, err = t.Event(r.EventID)
			r.Body = e.Body
		}
		if err != nil {
			return err
		}
		claims.Claims = append(claims.Claims, store.Claim{Delivery: r.Delivery, Body: r.Body})
	}
	return nil
}

// firstDue returns the earliest waiting delivery of an endpoint.
func (t *tx) firstDue(endpoint uint64) (dueAt, bool) {
	prefix := listStart(endpoint, store.ListWaiting)
	key, _ := t.bolt.Bucket(bucketDeliveryLists).Cursor().Seek(prefix)
	if !bytes.HasPrefix(key, prefix) {
		return dueAt{}, false
	}
	return dueAt{endpoint, dueOf(key)}, true
}

// dueOf returns the due time in a key of the waiting list.
func dueOf(key []byte) time.Time {
	_, _, at := readPlaceKey(key)
	return time.UnixMilli(int64(at.Ms))
}

// claims are the deliveries being attempted. They are kept in memory: the engine
// is the sole owner of its file.
type claims struct {
	mu       sync.Mutex
	claimed  map[string]bool // by id: whether it was written since, and waits
	released atomic.Uint64   // number of releases
}

func (c *claims) claim(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.claimed[id]; taken {
		return false
	}
	c.claimed[id] = false
	return true
}

// note notes that deliveries were written, and wait.
func (c *claims) note(ids []string) {
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

// Release releases a claimed delivery.
func (c *claims) Release(deliveryID string) {
	c.released.Add(1) // before it can be claimed again
	c.mu.Lock()
	delete(c.claimed, deliveryID)
	c.mu.Unlock()
}

func (c *claims) isClaimed(id string) (claimed, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	again, claimed = c.claimed[id]
	return claimed, again
}
