package boltstore

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"teamdata/store"
)

func (f *fixture) sendTests(n int) {
	f.Helper()
	f.update(func(tx store.Tx) error {
		for range n {
			if _, err := store.SendTest(tx, testOrg, "whe_1"); err != nil {
				return err
			}
		}
		return nil
	})
}

// attempt records an attempt that was acknowledged, and gives the delivery back.
func (f *fixture) attempt(id string) error {
	now := time.Now()
	err := f.Update(bg, store.All, func(tx store.Tx) error {
		a := store.Attempt{StartedAt: now, EndedAt: now, Status: http.StatusOK}
		_, err := store.RecordAttempt(tx, id, a, store.DefaultRetrySchedule)
		return err
	})
	f.Release(id)
	return err
}

// TestClaimsDoNotGoBackInTime: what is due is looked for in a moment that may
// have passed when it is found. A delivery that was attempted and given back in
// between is not claimed again.
func TestClaimsDoNotGoBackInTime(t *testing.T) {
	f := newFixture(t, Options{NoSync: true})
	const deliveries, claimers = 2000, 8
	f.sendTests(deliveries)
	now := time.Now().Add(time.Second)
	var mu sync.Mutex
	attempts := map[string]int{}
	var all sync.WaitGroup
	for range claimers {
		all.Go(func() {
			for {
				claims, err := f.Claim(bg, 1, now, 3)
				if err != nil {
					t.Error(err)
				}
				if len(claims.Claims) == 0 {
					return
				}
				for _, c := range claims.Claims {
					mu.Lock()
					attempts[c.Delivery.ID]++
					mu.Unlock()
					if err := f.attempt(c.Delivery.ID); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	if len(attempts) != deliveries {
		t.Errorf("%d deliveries were attempted", len(attempts))
	}
	twice := 0
	for _, n := range attempts {
		if n != 1 {
			twice++
		}
	}
	if twice > 0 {
		t.Errorf("%d deliveries were attempted more than once", twice)
	}
}
