package pgstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
)

// steered is a node whose heartbeats are the test's.
type steered struct {
	*Store
	testing.TB
	told []uint64 // endpoints where something is due
}

func steer(t testing.TB, database, name string) *steered {
	t.Helper()
	target, err := ParseTarget(database)
	kit.Must(t, err)
	s, err := Open(bg, target, Options{Node: name, Sole: true})
	kit.Must(t, err)
	t.Cleanup(func() { s.Close() })
	n := &steered{Store: s, TB: t}
	s.OnDue(func(endpoint uint64, _ time.Time) { n.told = append(n.told, endpoint) })
	return n
}

func (n *steered) beats(times int) {
	n.Helper()
	for range times {
		n.told = nil
		if _, err := n.node.beat(); err != nil {
			n.Fatal(err)
		}
	}
}

// shards are those that the database says it has.
func (n *steered) shards() int {
	n.Helper()
	nodes, err := n.Nodes(bg)
	kit.Must(n, err)
	return nodes[slices.IndexFunc(nodes, func(other store.Node) bool { return other.Name == n.node.name })].Shards
}

// claim claims what is due of an endpoint, and reports whether the node has its shard.
func (n *steered) claim(endpoint uint64) (claims []store.Claim, has bool) {
	n.Helper()
	c, err := n.Claim(bg, endpoint, time.Now().Add(time.Hour), 1)
	kit.Must(n, err)
	return c.Claims, c.Fence.Token != 0
}

// withDue adds orgs that have an endpoint each where something is due, and returns those
// endpoints that a node has.
func (n *steered) withDue(orgs int) (mine []uint64) {
	n.Helper()
	err := n.Update(bg, store.All, func(tx store.Tx) error {
		mine = nil
		for i := range orgs {
			org := fmt.Sprint("org_", i)
			if _, err := store.ImportOrg(tx, store.Org{ID: org, Name: org}); err != nil {
				return err
			}
			e, err := store.ImportEndpoint(tx, store.Endpoint{ID: "whe_1", OrgID: org, URL: "https://receiver.example", Events: store.BuiltInEventTypes})
			if err != nil {
				return err
			}
			if n.node.has(e.Number) {
				mine = append(mine, e.Number)
			}
			if _, err := store.SendTest(tx, org, "whe_1"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(mine) < 3 {
		n.Fatal(mine, err)
	}
	return mine
}

// Who waits while leases are taken, which may take a login, waits no longer than its context,
// and as simulated time can see.
func TestLeasesAreLocked(t *testing.T) {
	t.Parallel()
	one := steer(t, WithTables(t), "one")
	one.beats(1)
	kit.Must(t, one.node.lockLeases(t.Context()))
	defer one.node.unlockLeases()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	one.HandOver(ctx)
	if held, err := one.Hold(ctx, "work", func(context.Context) error { return nil }); held || err == nil {
		t.Errorf("a job runs: %v, %v", held, err)
	}
}

// TestHandOver: the first heartbeat of a node that stops gives up all shards of which
// nothing is in flight, later ones those whose attempts have ended. The node claims
// nothing more at once.
func TestHandOver(t *testing.T) {
	t.Parallel()
	database := WithTables(t)
	one, two := steer(t, database, "one"), steer(t, database, "two")
	one.beats(2)
	two.beats(1)
	if a, b := one.shards(), two.shards(); a+b != store.Shards || a == 0 || b == 0 {
		t.Fatalf("the nodes have %d and %d shards", a, b)
	}
	endpoints := one.withDue(32)
	ends, late, idle := endpoints[0], endpoints[1], endpoints[2]
	ending, _ := one.claim(ends)
	lasting, _ := one.claim(late)

	one.node.stop(t.Context())
	if _, has := one.claim(idle); has {
		t.Error("a node that stops claims")
	}
	one.beats(1)
	two.beats(1)
	if a, b := one.shards(), two.shards(); a != 2 || b != store.Shards-2 {
		t.Errorf("with attempts in flight in 2 shards, the nodes have %d and %d", a, b)
	}
	if !slices.Contains(two.told, idle) {
		t.Errorf("the other node is told of %v, and not of %d", two.told, idle)
	}

	for i, ended := range []struct {
		claims   []store.Claim
		endpoint uint64
	}{{ending, ends}, {lasting, late}} {
		one.Release(ended.claims[0].Delivery.ID)
		one.beats(1)
		two.beats(1)
		if !slices.Contains(two.told, ended.endpoint) || two.shards() != store.Shards-1+i {
			t.Errorf("the other node has %d shards, and is told of %v", two.shards(), two.told)
		}
	}
	select {
	case <-one.node.stopped:
	default:
		t.Error("it has not stopped")
	}
}

// TestKeptShard: what is due in a shard that a node was to give up, and keeps since the
// other one has gone, is announced again: meanwhile it was not claimed.
func TestKeptShard(t *testing.T) {
	database := WithTables(t)
	one := steer(t, database, "one")
	endpoints := one.withDue(32)
	for _, e := range endpoints {
		one.claim(e)
	}
	two := steer(t, database, "two")
	one.beats(1)
	i := slices.IndexFunc(endpoints, func(e uint64) bool { _, has := one.claim(e); return !has })
	if i < 0 || len(one.told) > 0 {
		t.Fatalf("none of %v is to be given up, or it is told of %v", endpoints, one.told)
	}
	two.Close()
	one.beats(1)
	if _, has := one.claim(endpoints[i]); !has || !slices.Contains(one.told, endpoints[i]) {
		t.Errorf("it has %d: %v; it is told of %v", endpoints[i], has, one.told)
	}
}

// TestGivenUpWithoutAnswer: a node that gives up the lease of a job does not rely on it
// any more, even if no answer comes; and has it still, if that came to nothing.
func TestGivenUpWithoutAnswer(t *testing.T) {
	one := steer(t, WithTables(t), "one")
	hold := func() bool {
		held, err := one.Hold(bg, "job", func(context.Context) error { return nil })
		kit.Must(t, err)
		return held
	}
	if !hold() {
		t.Fatal("it does not get the lease")
	}
	one.node.giveUp() // by a heartbeat that is lost
	if hold() {
		t.Error("it relies on what it may have given up")
	}
	one.beats(1)
	if !hold() {
		t.Error("it does not find what it has")
	}
}

// TestFencedNode: a node whose outcome is refused, since another one has the endpoint,
// claims nothing more of its shard: the clock of the database may have jumped.
func TestFencedNode(t *testing.T) {
	database := WithTables(t)
	one := steer(t, database, "one")
	endpoint := one.withDue(3)[0]
	claims, err := one.Claim(bg, endpoint, time.Now().Add(time.Hour), 1)
	if err != nil || len(claims.Claims) != 1 {
		t.Fatalf("claims %+v, %v", claims, err)
	}
	d := claims.Claims[0].Delivery
	one.Release(d.ID)
	postgres.Exec(t, database, "UPDATE leases SET token = token + 1")
	scope := store.Scope{Orgs: []string{d.OrgID}, Deliveries: []string{d.ID}, Fence: claims.Fence}
	if err := one.Update(bg, scope, func(store.Tx) error { return nil }); store.CodeOf(err) != store.CodeFenced {
		t.Errorf("an outcome under an old token: %v", err)
	}
	if _, has := one.claim(endpoint); has {
		t.Error("it claims still")
	}
	one.beats(1)
	if claims, has := one.claim(endpoint); !has || len(claims) != 1 {
		t.Errorf("it claims %+v under the new token: %v", claims, has)
	}
}

// TestForgottenNodes: a node that was killed is listed as lost for an hour.
func TestForgottenNodes(t *testing.T) {
	t.Parallel()
	database := WithTables(t)
	one := steer(t, database, "here")
	postgres.Exec(t, database, `INSERT INTO nodes (id, name, version, schema, state, started_at, seen_at)
		SELECT 'nod_' || minutes, minutes || '-minutes', '', 1, 'running', 0, extract(epoch FROM now())::bigint * 1000 - minutes * 60000 FROM unnest(ARRAY[59, 61]) minutes`)
	check := func(want string) {
		t.Helper()
		list, err := one.Nodes(bg)
		kit.Must(t, err)
		var names []string
		for _, n := range list {
			names = append(names, n.Name+" "+n.State)
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("nodes: %s, not %s", got, want)
		}
	}
	one.beats(1)
	check("59-minutes lost, 61-minutes lost, here running")
	one.unseen(leaseTime + time.Second)
	one.beats(1)
	check("59-minutes lost, here running")
}

// unseen makes it so much longer that the node has seen others.
func (n *steered) unseen(d time.Duration) {
	n.node.sight.mu.Lock()
	defer n.node.sight.mu.Unlock()
	for id, other := range n.node.sight.nodes {
		if id != n.node.id { // whose next heartbeat may be of the same millisecond
			other.since = other.since.Add(-d)
		}
	}
}

// TestWrongClock: a node whose clock is wrong leaves the endpoints to those whose clocks
// are right, until its own is; and if the database's is wrong, nobody does.
func TestWrongClock(t *testing.T) {
	t.Parallel()
	database := WithTables(t)
	one, two := steer(t, database, "one"), steer(t, database, "two")
	shares := func(wantOne, wantTwo bool) {
		t.Helper()
		if a, b := one.shards(), two.shards(); a+b != store.Shards || (a > 0) != wantOne || (b > 0) != wantTwo {
			t.Errorf("the nodes have %d and %d shards", a, b)
		}
	}
	settle := func(oneAhead, twoAhead time.Duration) {
		t.Helper()
		for range 4 {
			one.beatAt(oneAhead)
			two.beatAt(twoAhead)
		}
	}
	settle(0, 0)
	shares(true, true)
	settle(0, time.Hour)
	shares(true, true) // the database's may have been set, and the other node not know it yet
	two.node.wrongSince = time.Now().Add(-wrongTime)
	settle(0, time.Hour)
	shares(true, false)
	settle(0, 0)
	shares(true, true)
	settle(-time.Hour, -time.Hour)
	one.node.wrongSince = time.Now().Add(-wrongTime)
	two.node.wrongSince = time.Now().Add(-wrongTime)
	settle(-time.Hour, -time.Hour)
	shares(true, true)
}

// beatAt is a heartbeat while the database's clock is so far ahead of the node's.
func (n *steered) beatAt(ahead time.Duration) {
	n.Helper()
	n.clock.Store(&clock{time.Now().Add(ahead), rightNow()})
	n.beats(1)
}
