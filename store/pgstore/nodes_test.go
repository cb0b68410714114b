package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/pgstore"
	"teamdata/store/storetest"
)

// TestNodes: two nodes that take turns keep the contract as one does.
func TestNodes(t *testing.T) {
	t.Parallel()
	all := databases{owner: t}
	storetest.Random(t, func(t testing.TB, path string, now func() time.Time) store.Store {
		database := all.at(t, path)
		return newNodes(t, open(t, database, pgstore.Options{Now: now}), open(t, database, pgstore.Options{Now: now}))
	})
}

// nodes are nodes on one database, each of which takes the next transaction.
type nodes struct {
	store.Store
	all  []*pgstore.Store
	turn atomic.Int64
}

// newNodes waits until the nodes have shared the endpoints out.
func newNodes(t testing.TB, all ...*pgstore.Store) *nodes {
	awaitShards(t, all[0], len(all))
	return &nodes{Store: all[0], all: all}
}

// awaitShards waits until the given number of nodes have all shards among them.
func awaitShards(t testing.TB, s *pgstore.Store, want int) []store.Node {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		list, err := s.Nodes(context.Background())
		shards, having := 0, 0
		for _, n := range list {
			if shards += n.Shards; n.Shards > 0 {
				having++
			}
		}
		if err == nil && shards == 64 && having == want {
			return list
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%d nodes don't have all shards: %+v, %v", want, list, err)
		}
	}
}

func (n *nodes) next() *pgstore.Store { return n.all[n.turn.Add(1)%int64(len(n.all))] }

func (n *nodes) View(ctx context.Context, fn func(store.Tx) error) error {
	return n.next().View(ctx, fn)
}

func (n *nodes) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	return n.next().Update(ctx, scope, fn)
}

func (n *nodes) EachDue(ctx context.Context, fn func(endpoint uint64, due time.Time)) error {
	return n.next().EachDue(ctx, fn)
}

func (n *nodes) OnDue(fn func(endpoint uint64, due time.Time)) {
	for _, s := range n.all {
		s.OnDue(fn)
	}
}

// Claim claims on the node that has the endpoint. By the database one has, but the answer
// that tells it so may still be on the way.
func (n *nodes) Claim(ctx context.Context, endpoint uint64, now time.Time, limit int) (claims store.Claims, err error) {
	for late := time.After(10 * time.Second); ; {
		for _, s := range n.all {
			if claims, err = s.Claim(ctx, endpoint, now, limit); err != nil || claims.Fence.Token != 0 {
				return claims, err
			}
		}
		select {
		case <-late:
			return claims, fmt.Errorf("no node has the endpoint %d", endpoint)
		case <-time.After(time.Millisecond):
		}
	}
}

func (n *nodes) Release(deliveryID string) {
	for _, s := range n.all {
		s.Release(deliveryID)
	}
}

func (n *nodes) Close() error {
	var failed error
	for _, s := range n.all {
		failed = errors.Join(failed, s.Close())
	}
	return failed
}

// TestShards: nodes that come and go have all shards among them, each about as many.
func TestShards(t *testing.T) {
	t.Parallel()
	database := pgstore.WithTables(t)
	var all []*pgstore.Store
	for n := range 4 {
		all = append(all, open(t, database, pgstore.Options{}))
		for _, node := range awaitShards(t, all[0], n+1) {
			if fair := 64 / (n + 1); node.Shards < fair/4 || node.Shards > fair*2 { // by hashes of their names
				t.Errorf("of %d nodes one has %d shards", n+1, node.Shards)
			}
		}
	}
	for n, s := range all[:3] {
		began := time.Now()
		kit.Must(t, s.Close())
		awaitShards(t, all[3], 3-n)
		t.Logf("%d nodes have the shards of the one that stopped after %v", 3-n, time.Since(began))
	}
	kit.Must(t, all[3].Close())
}

// due gathers what a node is told of.
type due chan uint64

func dueOf(s *pgstore.Store) due {
	d := make(due, 1000)
	s.OnDue(func(endpoint uint64, _ time.Time) {
		select {
		case d <- endpoint:
		default:
		}
	})
	return d
}

// TestDueElsewhere: what one node accepts is announced by the one that has the endpoint,
// by a hint, and also where hints are lost.
func TestDueElsewhere(t *testing.T) {
	t.Parallel()
	for name, noHints := range map[string]bool{"hints": false, "polling": true} {
		t.Run(name, func(t *testing.T) {
			if noHints {
				kit.NotEveryDay(t)
			}
			t.Parallel()
			database := pgstore.WithTables(t)
			a := open(t, database, pgstore.Options{NoHints: noHints})
			defer a.Close()
			b := open(t, database, pgstore.Options{NoHints: noHints})
			defer b.Close()
			told := map[*pgstore.Store]due{a: dueOf(a), b: dueOf(b)}
			awaitShards(t, a, 2)
			endpoints := addEndpoints(t, a, 8)
			for _, e := range endpoints {
				kit.Must(t, accept(a, e.OrgID, "key"))
				owner := ownerOf(t, e.Number, a, b)
				for got := range told[owner] {
					if got == e.Number {
						break
					}
				}
				if claims, err := owner.Claim(context.Background(), e.Number, time.Now().Add(time.Hour), 10); err != nil || len(claims.Claims) != 1 {
					t.Errorf("the owner of %d claims %+v, %v", e.Number, claims, err)
				}
			}
		})
	}
}

// TestAccessOverNodes: when an Update that touches access returns, no node trusts what
// it kept before.
func TestAccessOverNodes(t *testing.T) {
	t.Parallel()
	for name, noHints := range map[string]bool{"hints": false, "polling": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := pgstore.WithTables(t)
			all := []*pgstore.Store{}
			for range 3 {
				s := open(t, database, pgstore.Options{NoHints: noHints})
				defer s.Close()
				all = append(all, s)
			}
			rounds := 100
			if noHints {
				rounds = 3
			}
			began := time.Now()
			for i := range rounds {
				var before [3]uint64
				for j, s := range all {
					before[j] = s.AccessGeneration()
				}
				if err := all[i%3].Update(context.Background(), store.All, func(tx store.Tx) error {
					return tx.PutOrg(store.Org{ID: fmt.Sprint("org", i)})
				}); err != nil {
					t.Fatal(err)
				}
				for j, s := range all {
					if s.AccessGeneration() == before[j] {
						t.Fatalf("round %d: node %d knows nothing of what node %d did", i, j, i%3)
					}
				}
			}
			t.Logf("%v each", time.Since(began)/time.Duration(rounds))
		})
	}
}

// addEndpoints adds orgs with an endpoint each.
func addEndpoints(t testing.TB, s *pgstore.Store, n int) (endpoints []store.Endpoint) {
	t.Helper()
	fill(t, s, n)
	err := s.View(bg, func(tx store.Tx) error {
		for i := range n {
			e, err := tx.Endpoint(fmt.Sprint("org_", i), "whe_1")
			if err != nil {
				return err
			}
			endpoints = append(endpoints, e)
		}
		return nil
	})
	kit.Must(t, err)
	return endpoints
}

// ownerOf is the node that claims the deliveries of an endpoint.
func ownerOf(t testing.TB, endpoint uint64, all ...*pgstore.Store) *pgstore.Store {
	t.Helper()
	for _, s := range all {
		claims, err := s.Claim(bg, endpoint, time.Unix(0, 0), 1)
		kit.Must(t, err)
		if claims.Fence.Token != 0 {
			return s
		}
	}
	t.Fatalf("no node has the endpoint %d", endpoint)
	return nil
}
