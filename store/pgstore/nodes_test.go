package pgstore_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/pgstore"
	"teamdata/store/storetest"
)

// TestNodes: two nodes that take turns keep the contract as one does.
func TestNodes(t *testing.T) {
	storetest.Random(t, func(t testing.TB, path string, now func() time.Time) store.Store {
		database := databaseAt(t, path)
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
	for deadline := time.Now().Add(20 * time.Second); ; {
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
		if time.Now().After(deadline) {
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

func (n *nodes) Backlog(ctx context.Context) (store.Backlog, error) { return n.next().Backlog(ctx) }

func (n *nodes) OnDue(fn func(endpoint uint64, due time.Time)) {
	for _, s := range n.all {
		s.OnDue(fn)
	}
}

// Claim claims on the node that has the endpoint.
func (n *nodes) Claim(ctx context.Context, endpoint uint64, now time.Time, limit int) (claims store.Claims, err error) {
	for _, s := range n.all {
		if claims, err = s.Claim(ctx, endpoint, now, limit); err != nil || claims.Fence.Token != 0 {
			break
		}
	}
	return claims, err
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
