package pgstore_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
)

// sameKey makes a request with one key on each of the nodes at once, and returns how
// many of them were replays and how many were told that it is still running.
func sameKey(t *testing.T, all []*pgstore.Store, do func(i *store.Idempotency, s *pgstore.Store) (store.Answer, bool, error)) (replays, conflicts int) {
	t.Helper()
	var mu sync.Mutex
	var running sync.WaitGroup
	start := make(chan bool)
	for _, s := range all {
		running.Go(func() {
			var alone store.Idempotency // each node knows what runs on it
			<-start
			a, replayed, err := do(&alone, s)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case store.CodeOf(err) == store.CodeConflict:
				conflicts++
			case err != nil || string(a.Body) != "done":
				t.Errorf("answered %q, %v", a.Body, err)
			case replayed:
				replays++
			}
		})
	}
	close(start)
	running.Wait()
	return replays, conflicts
}

// TestIdempotencyOverNodes: of requests with one key on several nodes at once, one is
// executed and the others are replays, or are told that it still runs if that is long.
func TestIdempotencyOverNodes(t *testing.T) {
	t.Parallel()
	database := pgstore.WithTables(t)
	var all []*pgstore.Store
	for range 3 {
		s := open(t, database, pgstore.Options{})
		defer s.Close()
		all = append(all, s)
	}
	addEndpoints(t, all[0], 1)
	entries := func() (n int) {
		fmt.Sscan(postgres.Exec(t, database, "SELECT count(*) FROM audit_log")[0][0], &n)
		return n
	}
	before := entries()
	print := store.FingerprintOf("POST", "/members", "", nil)
	const rounds = 30
	var ran atomic.Int64
	for round := range rounds {
		key := store.IdempotencyKey{OrgID: "org_0", Key: fmt.Sprint("short ", round)}
		replays, conflicts := sameKey(t, all, func(i *store.Idempotency, s *pgstore.Store) (store.Answer, bool, error) {
			return i.Do(t.Context(), s, store.InOrg("org_0"), key, print, func(tx store.Tx) (store.Answer, error) {
				_, err := store.AppendAudit(tx, store.AuditEntry{OrgID: "org_0", Action: key.Key})
				return store.Answer{Status: 200, Body: []byte("done")}, err
			})
		})
		if replays != len(all)-1 || conflicts != 0 {
			t.Errorf("round %d: %d replays and %d conflicts", round, replays, conflicts)
		}
		key.Key = fmt.Sprint("long ", round)
		replays, conflicts = sameKey(t, all, func(i *store.Idempotency, s *pgstore.Store) (store.Answer, bool, error) {
			return i.DoLong(t.Context(), s, key, print, func() (store.Answer, error) {
				ran.Add(1)
				return store.Answer{Status: 200, Body: []byte("done")}, nil
			})
		})
		if replays+conflicts != len(all)-1 {
			t.Errorf("round %d of long work: %d replays and %d conflicts", round, replays, conflicts)
		}
		replays, _ = sameKey(t, all, func(i *store.Idempotency, s *pgstore.Store) (store.Answer, bool, error) {
			a, _, err := i.Do(t.Context(), s, store.InOrg("org_0"), key, print, nil)
			return a, true, err
		})
		if replays != len(all) {
			t.Errorf("round %d: %d replays after it", round, replays)
		}
	}
	if ran.Load() != rounds {
		t.Errorf("long work of %d requests ran %d times", rounds, ran.Load())
	}
	if n := entries() - before; n != rounds {
		t.Errorf("%d requests made %d entries", rounds, n)
	}
	jobs := 1
	for jobs > 0 { // until they are given up
		fmt.Sscan(postgres.Exec(t, database, "SELECT count(*) FROM leases WHERE name LIKE 'job %'")[0][0], &jobs)
	}
}
