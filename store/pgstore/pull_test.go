package pgstore_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/pgstore"
)

// addPulled adds an endpoint that is pulled to an org of its own, and returns it with a key.
func addPulled(t *testing.T, s store.Store) (e store.Endpoint, key *store.APIKey) {
	t.Helper()
	kit.Must(t, s.Update(bg, store.InOrg("org_pull"), func(tx store.Tx) (err error) {
		_, errOrg := store.ImportOrg(tx, store.Org{ID: "org_pull", Name: "Pull"})
		e, err = store.ImportEndpoint(tx, store.Endpoint{OrgID: "org_pull", ID: "whe_pull", Events: []string{store.EventMemberAdded}})
		return errors.Join(errOrg, err)
	}))
	return e, &store.APIKey{ID: "key_pull", OrgID: "org_pull", Scopes: store.ScopeReceive}
}

func sendPulled(s store.Store, n int) (ids []string, err error) {
	err = s.Update(bg, store.InOrg("org_pull"), func(tx store.Tx) error {
		ids = nil
		for range n {
			d, err := store.SendTest(tx, "org_pull", "whe_pull")
			if err != nil {
				return err
			}
			ids = append(ids, d.ID)
		}
		return nil
	})
	return ids, err
}

// pulls pulls once, and returns the ids of what it got.
func pulls(s store.Store, key *store.APIKey, limit int, acked ...string) (ids []string, err error) {
	err = s.Update(bg, store.Scope{Orgs: []string{key.OrgID}, Deliveries: acked}, func(tx store.Tx) error {
		got, err := store.Pull(tx, "whe_pull", store.PullRequest{Key: key, Ack: acked, Limit: limit, Lease: store.MaxLease})
		ids = nil
		for _, c := range got.Claims {
			ids = append(ids, c.Delivery.ID)
		}
		return err
	})
	return ids, err
}

// TestPullsOverNodes: consumers at two nodes pull at the same time, while both nodes accept.
// Each delivery is handed out once, and one consumer has them in the order of their ids.
func TestPullsOverNodes(t *testing.T) {
	t.Parallel()
	const consumers, each = 3, 200
	database := pgstore.WithTables(t)
	a, b := open(t, database, pgstore.Options{}), open(t, database, pgstore.Options{})
	defer a.Close()
	defer b.Close()
	_, key := addPulled(t, a)
	var all sync.WaitGroup
	var mu sync.Mutex
	sent, got := 0, map[string]int{}
	for i, s := range []store.Store{a, b} {
		all.Go(func() {
			for n := 0; n < each; n += 10 {
				ids, err := sendPulled(s, 10)
				if err != nil {
					t.Errorf("node %d: %v", i, err)
				}
				mu.Lock()
				sent += len(ids)
				mu.Unlock()
			}
		})
		for range consumers {
			all.Go(func() {
				for last := ""; ; {
					mu.Lock()
					done := len(got) == 2*each
					mu.Unlock()
					ids, err := pulls(s, key, 7)
					if err != nil || done {
						if err != nil {
							t.Errorf("node %d: %v", i, err)
						}
						return
					}
					for _, id := range ids {
						if id <= last {
							t.Errorf("%s comes after %s", id, last)
						}
						last = id
					}
					mu.Lock()
					for _, id := range ids {
						got[id]++
					}
					mu.Unlock()
				}
			})
		}
	}
	all.Wait()
	for id, n := range got {
		if n != 1 {
			t.Errorf("%s was handed out %d times", id, n)
		}
	}
	if sent != 2*each || len(got) != sent {
		t.Errorf("%d were sent, and %d handed out", sent, len(got))
	}
}

// TestPullsElsewhere: each node hears of what another one made due to be pulled: what it
// accepted, and what came back to it, by a hint, and also where hints are lost.
func TestPullsElsewhere(t *testing.T) {
	t.Parallel()
	for name, noHints := range map[string]bool{"hints": false, "polling": true} {
		t.Run(name, func(t *testing.T) {
			if noHints {
				kit.NotEveryDay(t)
			}
			t.Parallel()
			database := pgstore.WithTables(t)
			a, b := open(t, database, pgstore.Options{NoHints: noHints}), open(t, database, pgstore.Options{NoHints: noHints})
			defer a.Close()
			defer b.Close()
			e, key := addPulled(t, a)
			told := dueOf(b)
			heard := func(what string) {
				t.Helper()
				for late := time.After(20 * time.Second); ; {
					select {
					case number := <-told:
						if number == e.Number || noHints && number == store.FirstPull {
							return
						}
					case <-late:
						t.Fatalf("the other node has not heard of %s", what)
					}
				}
			}
			for i := range 3 {
				ids, err := sendPulled(a, 1)
				kit.Must(t, err)
				heard("an event")
				got, err := pulls(b, key, 1)
				if kit.Must(t, err); fmt.Sprint(got) != fmt.Sprint(ids) {
					t.Fatalf("round %d: the other node got %v for %v", i, got, ids)
				}
				for len(told) > 0 {
					<-told // of the lease that it granted
				}
				kit.Must(t, a.Update(bg, store.InOrg(key.OrgID), func(tx store.Tx) error {
					d, err := tx.Delivery(ids[0])
					if err != nil {
						return err
					}
					now := time.Duration(0)
					return store.NackDeliveries(tx, key, e.ID, []store.LeaseOf{{DeliveryID: d.ID, Lease: d.Lease().ID}}, "", &now, store.DefaultRetrySchedule)
				}))
				heard("what was given back")
				_, err = pulls(b, key, 1)
				kit.Must(t, err)
				_, err = pulls(b, key, 1, ids...)
				kit.Must(t, err)
			}
		})
	}
}
