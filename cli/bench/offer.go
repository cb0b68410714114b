package bench

import (
	"context"
	"time"
)

// sample is one event on its way.
type sample struct {
	id       string
	sent     time.Time
	answered time.Time
}

// offer sends requests evenly spaced, whatever the answers take: request(k) is
// number k of n. A caller that is still busy when its turn comes sends late,
// and the wait counts.
func (c crowd) offer(ctx context.Context, n int, every time.Duration, request func(k int) string) ([]sample, error) {
	samples := make([]sample, n)
	start := time.Now()
	lasts := time.Duration(n) * every
	err := c.all(ctx, lasts, func(i int) error {
		free := start
		for k := i; k < n; k += len(c) {
			at := start.Add(time.Duration(k) * every)
			if err := until(ctx, at); err != nil {
				return err
			}
			if samples[k].sent = time.Now(); free.After(at) {
				samples[k].sent = at
			}
			if err := c[i].exchange(request(k)); err != nil {
				return err
			}
			free = time.Now()
			samples[k].answered, samples[k].id = free, c[i].deliveryID()
		}
		return nil
	})
	return samples, err
}

// until waits for a time.
func until(ctx context.Context, at time.Time) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(at)):
		return nil
	}
}

// offered counts on from what a receiver has, offers n requests and waits until
// all their events were received.
func (c crowd) offered(ctx context.Context, r *receiver, n int, every time.Duration, request func(k int) string) (fromRequest, fromAnswer []time.Duration, err error) {
	before := r.count()
	samples, err := c.offer(ctx, n, every, request)
	if err != nil {
		return nil, nil, err
	}
	if _, err := r.await(ctx, before+n); err != nil {
		return nil, nil, err
	}
	fromRequest, fromAnswer = r.delays(samples)
	return fromRequest, fromAnswer, nil
}
