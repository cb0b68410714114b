package boltstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"

	"teamdata/store"
	"teamdata/store/engine"
)

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
			e, err := t.SealedEndpoint(number)
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
	e, err := w.EndpointByNumber(w.endpoint)
	if store.IsNotFound(err) || err == nil && e.Disabled() {
		return e, nil
	}
	if err != nil {
		return e, err
	}
	prefix := listStart(w.endpoint, store.ListWaiting)
	c := w.bolt.Bucket(bucketDeliveryLists).Cursor()
	for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Next() {
		if _, _, at := readPlaceKey(key); !offer(at) {
			break
		}
	}
	return e, nil
}

func (w waiting) Load(at []store.Cursor) ([]store.Claim, error) {
	claims := make([]store.Claim, 0, len(at))
	for _, at := range at {
		r, err := w.deliveryRecord(at.ID)
		if err == nil && len(r.Body) == 0 {
			var e store.Event
			e, err = w.Event(r.EventID)
			r.Body = e.Body
		}
		if err != nil {
			return nil, err
		}
		claims = append(claims, store.Claim{Delivery: r.Delivery, Body: r.Body})
	}
	return claims, nil
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
	return time.UnixMilli(int64(binary.BigEndian.Uint64(key[9:])))
}
