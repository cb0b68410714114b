package delivery

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/store"
)

// leased is a store whose claims are a lease that others may take over.
type leased struct {
	store.Store
	token  atomic.Uint64 // of the node that has the lease
	lasts  atomic.Int64  // how long claims last, in nanoseconds
	claims atomic.Int64
}

func newLeased(s store.Store, lasts time.Duration) *leased {
	l := &leased{Store: s}
	l.token.Store(1)
	l.lasts.Store(int64(lasts))
	return l
}

func (l *leased) Claim(ctx context.Context, endpoint uint64, now time.Time, limit int) (store.Claims, error) {
	claims, err := l.Store.Claim(ctx, endpoint, now, limit)
	claims.Until = time.Now().Add(time.Duration(l.lasts.Load()))
	claims.Fence = store.Fence{Endpoint: endpoint, Token: l.token.Load()}
	if len(claims.Claims) > 0 {
		l.claims.Add(1)
	}
	return claims, err
}

func (l *leased) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	if token := scope.Fence.Token; token != 0 && token != l.token.Load() {
		return store.Errorf(store.CodeFenced, "Another node has the lease.")
	}
	return l.Store.Update(ctx, scope, fn)
}

// TestFencedOutcomes: the outcome of an attempt whose lease was taken over is dropped,
// and what is still due is claimed anew.
func TestFencedOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		s := newLeased(env.store, time.Hour)
		d := New(s, Config{})
		attempts := 0
		d.send = func(context.Context, *store.Endpoint, *store.Claim) (store.Attempt, string) {
			if attempts++; attempts < 3 {
				s.token.Add(1)
			}
			return store.Attempt{StartedAt: time.Now(), EndedAt: time.Now(), Status: http.StatusOK}, "acknowledged"
		}
		got := env.runUntilSettled(d)
		if attempts != 3 || got.State != store.StateAcknowledged || got.Attempts != 1 || len(got.History) != 1 {
			t.Errorf("after %d attempts it is %s, with %d that count: %v", attempts, got.State, got.Attempts, got.History)
		}
	})
}

// TestLateClaims: no attempt starts once its claim is over.
func TestLateClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		s := newLeased(env.store, 0)
		d := New(s, Config{})
		attempts := 0
		d.send = func(context.Context, *store.Endpoint, *store.Claim) (store.Attempt, string) {
			if attempts++; s.claims.Load() < 3 {
				t.Error("an attempt of a claim that is over")
			}
			return store.Attempt{StartedAt: time.Now(), EndedAt: time.Now(), Status: http.StatusOK}, "acknowledged"
		}
		released := &countedReleases{Store: s, then: func(n int) {
			if n == 2 {
				s.lasts.Store(int64(time.Hour))
			}
		}}
		d.store = released
		got := env.runUntilSettled(d)
		if attempts != 1 || got.State != store.StateAcknowledged || got.Attempts != 1 || s.claims.Load() != 3 {
			t.Errorf("after %d claims and %d attempts it is %s, with %d that count", s.claims.Load(), attempts, got.State, got.Attempts)
		}
	})
}

// countedReleases is a store in which something happens after each release.
type countedReleases struct {
	store.Store
	n    int
	then func(n int)
}

func (s *countedReleases) Release(id string) {
	s.Store.Release(id)
	s.n++
	s.then(s.n)
}

// runUntilSettled sends one delivery until nothing is due, and returns it.
func (env *env) runUntilSettled(d *Dispatcher) store.Delivery {
	env.Helper()
	ctx, cancel := context.WithCancel(env.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx, ctx) }()
	sent := env.sendTest(env.endpoint("https://receiver.example/").ID)
	if err := d.Settle(ctx); err != nil {
		env.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		env.Error(err)
	}
	got := env.delivery(sent.ID)
	env.store.Close()
	return got
}
