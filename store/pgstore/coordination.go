package pgstore

import (
	"context"
	"crypto/rand"
	"time"

	"teamdata/store"
	"teamdata/store/engine"
	"teamdata/store/rows"
)

// Update hands fn to the writer and waits until its commit is on disk. If it touched
// what nodes keep in memory, it waits until they all know, or have stopped to trust
// that: none lets in whom the Update shut out.
func (s *Store) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	var group *tx // if the last run of fn touched something
	err := s.queue.Update(ctx, scope, func(t store.Tx) (err error) {
		run := ownTx(t)
		earlier := run.Changes
		run.Touched, run.Retyped = false, false
		if err = fn(t); run.Touched || run.Retyped {
			group = run
		} else {
			group = nil
		}
		run.Touched, run.Retyped = run.Touched || earlier.Touched, run.Retyped || earlier.Retyped
		return err
	})
	if err == nil && group != nil {
		s.node.awaitSeen(group.published)
	}
	return err
}

// Hold runs fn under the lease of a name.
func (s *Store) Hold(ctx context.Context, name string, fn func(ctx context.Context) error) (held bool, err error) {
	name = "job " + name
	j, err := s.node.join(ctx, name)
	if j == nil || err != nil {
		return false, fault(err)
	}
	defer s.node.part(name, j)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(j.ctx, cancel)()
	return true, fn(ctx)
}

// UseUp keeps the text until now has come to its end.
func (s *Store) UseUp(ctx context.Context, text string, now time.Time, ttl time.Duration) (first bool, err error) {
	rows, err := s.pool.rows(ctx,
		newQuery("DELETE FROM used_up WHERE until <= $1", now),
		newQuery("INSERT INTO used_up VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1::bigint", text, now.Add(ttl)))
	return len(rows) > 0, fault(err)
}

// SharedKey returns the key that the first node made.
func (s *Store) SharedKey(ctx context.Context) (key []byte, err error) {
	fresh := make([]byte, 32)
	rand.Read(fresh)
	bucket, name := []byte("sharedKey"), []byte("key")
	rows, err := s.pool.rows(ctx,
		newQuery("INSERT INTO shared_key (key) VALUES ($1) ON CONFLICT DO NOTHING", s.seal.SealValue(fresh, bucket, name, "")),
		newQuery("SELECT key FROM shared_key"))
	if err != nil {
		return nil, fault(err)
	}
	key, err = s.seal.OpenValue(rows[0][0], bucket, name, "")
	return key, fault(err)
}

// Claim claims due deliveries of an endpoint whose shard this node has, and of others
// none: what is due there is announced when the node gets it.
func (s *Store) Claim(ctx context.Context, endpoint uint64, now time.Time, limit int) (claims store.Claims, err error) {
	fence, until, claimed, ok := s.node.claiming(endpoint)
	if !ok {
		return claims, nil
	}
	w := new(waiting)
	defer func() { s.node.endClaiming(endpoint, claims.Claims, w.taken) }()
	for range maxTries {
		claims, err = s.Claims.Claim(func(fn func(engine.Waiting) error) error {
			return s.view(ctx, func(t *tx) error {
				t.begun = true
				w = &waiting{tx: t, endpoint: endpoint, step: claimed + limit + 1}
				return fn(w)
			})
		}, now, limit)
		if !store.IsNotFound(err) { // one was deleted before its event was read
			break
		}
	}
	claims.Fence, claims.Until, claims.Again = fence, until, claims.Again || w.again
	return claims, err
}

// Release releases a claimed delivery.
func (s *Store) Release(deliveryID string) {
	s.Claims.Release(deliveryID)
	s.node.released(deliveryID)
}

// HandOver gives up all shards, one with claims once these are released.
func (s *Store) HandOver(ctx context.Context) { s.node.handOver(ctx) }

// Nodes lists the nodes by name, without commands.
func (s *Store) Nodes(ctx context.Context) (nodes []store.Node, err error) {
	nodes, err = s.pool.nodes(ctx, &s.node.sight)
	return nodes, fault(err)
}

// AccessGeneration is bumped after each commit that touched what an Access depends on.
// While the node doesn't know whether others did, it is another one each time.
func (s *Store) AccessGeneration() uint64 {
	if !s.node.trusts() {
		s.Doubt()
	}
	return s.Notices.AccessGeneration()
}

// EventTypeGeneration is bumped like it, for event types.
func (s *Store) EventTypeGeneration() uint64 {
	if !s.node.trusts() {
		s.Tell(&rows.Changes{Retyped: true})
	}
	return s.Notices.EventTypeGeneration()
}
