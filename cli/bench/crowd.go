package bench

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// crowd are callers of one server who ask at once, each on its own connection.
type crowd []*caller

// dialCrowd connects n callers.
func dialCrowd(ctx context.Context, t target, n int) (crowd, error) {
	c := make(crowd, n)
	err := c.all(ctx, 0, func(i int) (err error) {
		c[i], err = t.dial(ctx)
		return err
	})
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c crowd) close() {
	for _, one := range c {
		if one != nil {
			one.conn.Close()
		}
	}
}

// all lets every caller do something at once, and returns the first error. It
// takes no longer than a time and answerTimeout; ctx ends it.
func (c crowd) all(ctx context.Context, lasts time.Duration, do func(i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	hurry := func(at time.Time) {
		for _, one := range c {
			if one != nil {
				one.conn.SetDeadline(at)
			}
		}
	}
	hurry(time.Now().Add(lasts + answerTimeout))
	defer context.AfterFunc(ctx, func() { hurry(time.Unix(1, 0)) })()
	var group sync.WaitGroup
	for i := range c {
		group.Go(func() {
			if err := do(i); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// askFor lets all ask for a time, and returns the answers a second. Caller i
// asks request(i).
func (c crowd) askFor(ctx context.Context, lasts time.Duration, request func(i int) string) (rate float64, err error) {
	var answered atomic.Int64
	start := time.Now()
	err = c.all(ctx, lasts, func(i int) error {
		text := request(i)
		for time.Since(start) < lasts {
			if err := c[i].exchange(text); err != nil {
				return err
			}
			answered.Add(1)
		}
		return nil
	})
	return float64(answered.Load()) / time.Since(start).Seconds(), err
}

// ask lets all ask n times together, and returns how long that took.
func (c crowd) ask(ctx context.Context, n int, request func(i int) string) (time.Duration, error) {
	var begun atomic.Int64
	start := time.Now()
	err := c.all(ctx, longest, func(i int) error {
		text := request(i)
		for begun.Add(1) <= int64(n) {
			if err := c[i].exchange(text); err != nil {
				return err
			}
		}
		return nil
	})
	return time.Since(start), err
}

// longest bounds what has no time of its own.
const longest = time.Hour

// always is a request that all callers make.
func always(text string) func(int) string { return func(int) string { return text } }
