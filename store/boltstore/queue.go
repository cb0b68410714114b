package boltstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"

	"teamdata/store"
)

// OnDue sets who is told of due deliveries.
func (s *Store) OnDue(fn func(endpoint uint64, due time.Time)) { s.onDue.Store(&fn) }

// EachDue jumps through the due index from one endpoint's earliest entry to the
// next endpoint's.
func (s *Store) EachDue(ctx context.Context, fn func(endpoint uint64, due time.Time)) error {
	return s.view(func(t *tx) error {
		c := t.bolt.Bucket(bucketDue).Cursor()
		for key, _ := c.First(); key != nil; {
			if err := ctx.Err(); err != nil {
				return err
			}
			number, ms, _ := readDueKey(key)
			if e, err := t.endpointByNumber(number); err == nil && !e.Disabled() {
				fn(number, time.UnixMilli(int64(ms)))
			} else if err != nil && !store.IsNotFound(err) {
				return err
			}
			key, _ = c.Seek(numberKey(number + 1))
		}
		return nil
	})
}

// Claim takes what is due in two looks. What the first finds may have been
// attempted and given back since the moment that it sees; the second, begun
// after the claiming, sees that too.
func (s *Store) Claim(ctx context.Context, endpoint uint64, now time.Time, limit int) (store.Claims, error) {
	for {
		var keys [][]byte
		var claims store.Claims
		err := s.view(func(t *tx) (err error) {
			keys, err = t.claim(&claims, endpoint, now, limit)
			return err
		})
		if err == nil && len(keys) > 0 {
			err = s.view(func(t *tx) error { return t.loadDue(&claims, keys) })
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
	_, _, id := readDueKey(key)
	s.Release(id)
}

// claim walks the endpoint's range of the due index, and returns the keys of
// what it claimed.
func (t *tx) claim(claims *store.Claims, endpoint uint64, now time.Time, limit int) (keys [][]byte, err error) {
	claims.Endpoint, err = t.endpointByNumber(endpoint)
	if store.IsNotFound(err) || err == nil && claims.Endpoint.Disabled() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	prefix := numberKey(endpoint)
	c := t.bolt.Bucket(bucketDue).Cursor()
	for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Next() {
		_, ms, id := readDueKey(key)
		due := time.UnixMilli(int64(ms))
		if len(keys) == limit || due.After(now) {
			if !t.s.isClaimed(id) {
				claims.Next = due
				return keys, nil
			}
			continue
		}
		if t.s.claim(id) {
			keys = append(keys, bytes.Clone(key))
		}
	}
	return keys, nil
}

// loadDue loads what was claimed, and gives back what is not due any more.
func (t *tx) loadDue(claims *store.Claims, keys [][]byte) error {
	for _, key := range keys {
		if t.bolt.Bucket(bucketDue).Get(key) == nil {
			t.s.releaseKey(key)
			continue
		}
		_, _, id := readDueKey(key)
		claim, err := t.load(id)
		if err != nil {
			return err
		}
		claims.Claims = append(claims.Claims, claim)
	}
	return nil
}

func (t *tx) load(deliveryID string) (c store.Claim, err error) {
	if c.Delivery, err = t.Delivery(deliveryID); err != nil {
		return c, err
	}
	event, err := t.Event(c.Delivery.EventID)
	c.Body = event.Body
	return c, err
}

func (t *tx) endpointByNumber(number uint64) (e store.Endpoint, err error) {
	key := t.bolt.Bucket(bucketEndpointNumbers).Get(numberKey(number))
	if key == nil {
		return e, store.Errorf(store.CodeNotFound, "There is no such webhook endpoint.")
	}
	return e, t.get(bucketEndpoints, key, "webhook endpoint", endpointFields(&e))
}

// firstDue is the earliest waiting delivery of an endpoint.
func (t *tx) firstDue(endpoint uint64) (dueAt, bool) {
	key, _ := t.bolt.Bucket(bucketDue).Cursor().Seek(numberKey(endpoint))
	if key == nil || binary.BigEndian.Uint64(key) != endpoint {
		return dueAt{}, false
	}
	_, ms, _ := readDueKey(key)
	return dueAt{endpoint, time.UnixMilli(int64(ms))}, true
}
