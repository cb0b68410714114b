package bench

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// receipts are the webhooks that a receiver got. Each is to come once; what
// comes again is a duplicate.
type receipts struct {
	mu         sync.Mutex
	seen       map[string]time.Time // when each webhook-id came first
	first      time.Time
	last       time.Time
	duplicates int
	held       int           // senders who wait for an answer that does not come
	awaited    int           // how many ids are waited for
	reached    chan struct{} // closed once they are there
}

// note counts a webhook.
func (r *receipts) note(id string) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, again := r.seen[id]; again {
		r.duplicates++
		return
	}
	if len(r.seen) == 0 {
		r.first = now
	}
	r.seen[id], r.last = now, now
	if r.reached != nil && len(r.seen) >= r.awaited {
		close(r.reached)
		r.reached = nil
	}
}

func (r *receipts) hold(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held += n
}

// hanging is how many senders wait for an answer that does not come.
func (r *receipts) hanging() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

// count is how many different webhooks came so far.
func (r *receipts) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seen)
}

// firstAt is when the first webhook came.
func (r *receipts) firstAt() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first
}

// cameAt is when a webhook came first; zero if it did not.
func (r *receipts) cameAt(id string) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[id]
}

// stallTimeout is how long nothing may come before the rest is given up.
const stallTimeout = 30 * time.Second

// await waits until n different webhooks have come in all, and returns when the
// last of them did.
func (r *receipts) await(ctx context.Context, n int) (last time.Time, err error) {
	reached := make(chan struct{})
	r.mu.Lock()
	if r.awaited, r.reached = n, reached; len(r.seen) >= n {
		close(reached)
		r.reached = nil
	}
	r.mu.Unlock()
	for before := -1; ; before = r.count() {
		select {
		case <-reached:
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.last, nil
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		case <-time.After(stallTimeout):
			if came := r.count(); came == before {
				return time.Time{}, fmt.Errorf("%d of %d webhooks came, and none in the last %s", came, n, stallTimeout)
			}
		}
	}
}

// delays are how long it took from the samples to their receipts, sorted:
// from the requests and from the answers. A receipt may come before the answer
// is read, and counts as 0 from there.
func (r *receipts) delays(samples []sample) (fromRequest, fromAnswer []time.Duration) {
	for _, s := range samples {
		came := r.cameAt(s.id)
		fromRequest = append(fromRequest, came.Sub(s.sent))
		fromAnswer = append(fromAnswer, max(0, came.Sub(s.answered)))
	}
	slices.Sort(fromRequest)
	slices.Sort(fromAnswer)
	return fromRequest, fromAnswer
}
