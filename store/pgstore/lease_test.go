package pgstore_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
)

// TestLostNode: a node whose link hangs begins nothing more before the others have what
// it had, writes no outcome of that afterwards, and goes on when the link does.
func TestLostNode(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	server := postgres.Start(t)
	proxy := postgres.NewProxy(t, server)
	database := postgres.Name(t, server.Database(t))
	other := open(t, server.TCP(database), pgstore.Options{Node: "other"})
	defer other.Close()
	lost := open(t, proxy.URL(database), pgstore.Options{Node: "lost"})
	defer lost.Close()
	awaitShards(t, other, 2)
	endpoints := addEndpoints(t, other, 16)
	var claims store.Claims
	for _, e := range endpoints {
		kit.Must(t, accept(other, e.OrgID, "key"))
		if ownerOf(t, e.Number, lost, other) == lost {
			var err error
			if claims, err = lost.Claim(bg, e.Number, time.Now().Add(time.Hour), 1); err != nil || len(claims.Claims) != 1 {
				t.Fatalf("claims %+v, %v", claims, err)
			}
		}
	}
	d := claims.Claims[0].Delivery
	told := dueOf(other)
	held := make(chan error, 1)
	running := make(chan bool)
	go func() {
		_, err := lost.Hold(bg, "job", func(ctx context.Context) error {
			close(running)
			<-ctx.Done()
			return ctx.Err()
		})
		held <- err
	}()
	<-running

	proxy.Hold(postgres.ToServer)
	began := time.Now()
	for e := range told {
		if e == d.EndpointNumber {
			break
		}
	}
	t.Logf("the other node has it after %v", time.Since(began))
	if !time.Now().After(claims.Until) {
		t.Errorf("the lost node may start attempts until %v, and the other one has them already", claims.Until)
	}
	if err := <-held; err != context.Canceled {
		t.Errorf("its job ended with %v", err)
	}
	if again, err := other.Claim(bg, d.EndpointNumber, time.Now().Add(time.Hour), 1); err != nil || len(again.Claims) != 1 || again.Claims[0].Delivery.ID != d.ID {
		t.Errorf("the other node claims %+v, %v", again, err)
	}
	if held, err := other.Hold(bg, "job", func(context.Context) error { return nil }); !held || err != nil {
		t.Errorf("the other node does the job: %v, %v", held, err)
	}

	proxy.Resume(postgres.ToServer)
	awaitShards(t, other, 2)
	scope := store.Scope{Orgs: []string{d.OrgID}, Deliveries: []string{d.ID}, Fence: claims.Fence}
	err := lost.Update(bg, scope, func(tx store.Tx) error {
		_, err := store.RecordAttempt(tx, d.ID, store.Attempt{Status: 200}, nil)
		return err
	})
	if store.CodeOf(err) != store.CodeFenced {
		t.Errorf("an outcome of the lost node: %v", err)
	}
}

// TestStalledNode: a node that stands still in the midst of a transaction, as one that is
// paused, does not keep others waiting for its locks longer than the database lets it. Its
// transaction runs again.
func TestStalledNode(t *testing.T) {
	t.Parallel()
	database := pgstore.WithTables(t)
	var stall atomic.Bool
	stalled, goOn := make(chan bool), make(chan bool)
	paused := open(t, database, pgstore.Options{BeforeCommit: func() error {
		if stall.CompareAndSwap(true, false) {
			close(stalled)
			<-goOn
		}
		return nil
	}})
	defer paused.Close()
	other := open(t, database, pgstore.Options{})
	defer other.Close()
	fill(t, other, 1)
	stall.Store(true)
	first := make(chan error, 1)
	go func() { first <- accept(paused, "org_0", "first") }()
	<-stalled
	began := time.Now()
	if err := accept(other, "org_0", "second"); err != nil {
		t.Error(err)
	}
	took := time.Since(began)
	if t.Logf("another node waited for %v", took); took > 4*time.Second {
		t.Error("that is too long")
	}
	close(goOn)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if n := postgres.Exec(t, database, "SELECT count(*) FROM deliveries")[0][0]; n != "2" {
		t.Errorf("%s deliveries are there", n)
	}
}

// TestTakenWithoutAnswer: a node whose link was cut when it took leases finds out that it
// has them.
func TestTakenWithoutAnswer(t *testing.T) {
	t.Parallel()
	database := pgstore.WithTables(t)
	s := open(t, database, pgstore.Options{Node: "one"})
	defer s.Close()
	awaitShards(t, s, 1)
	e := addEndpoints(t, s, 1)[0]
	kit.Must(t, accept(s, e.OrgID, "key"))
	told := dueOf(s)
	postgres.Exec(t, database, `UPDATE leases SET token = token + 1;
		INSERT INTO leases SELECT 'job left', id, 1 FROM nodes WHERE name = 'one'`)
	for got := range told {
		if got == e.Number {
			break
		}
	}
	if claims, err := s.Claim(bg, e.Number, time.Now().Add(time.Hour), 1); err != nil || len(claims.Claims) != 1 || claims.Fence.Token != 2 {
		t.Errorf("claims %+v, %v", claims, err)
	}
	if held, err := s.Hold(bg, "left", func(context.Context) error { return nil }); !held || err != nil {
		t.Errorf("the job: %v, %v", held, err)
	}
}

// TestHeldByOne: one node at a time does a job, and the next one does it afterwards.
func TestHeldByOne(t *testing.T) {
	t.Parallel()
	database := pgstore.WithTables(t)
	a, b := open(t, database, pgstore.Options{}), open(t, database, pgstore.Options{})
	defer a.Close()
	defer b.Close()
	held, err := a.Hold(bg, "job", func(context.Context) error {
		held, err := b.Hold(bg, "job", func(context.Context) error { return nil })
		if held || err != nil {
			t.Errorf("two nodes hold it: %v, %v", held, err)
		}
		return err
	})
	if !held || err != nil {
		t.Fatal(held, err)
	}
	for held = false; !held; {
		if held, err = b.Hold(bg, "job", func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
}

// TestShared: what is used up on one node is on the other, and both have one key until
// the last of them stops.
func TestShared(t *testing.T) {
	database := pgstore.WithTables(t)
	a, b := open(t, database, pgstore.Options{}), open(t, database, pgstore.Options{})
	now := time.Now()
	for _, row := range []struct {
		on    *pgstore.Store
		now   time.Time
		first bool
	}{{a, now, true}, {b, now, false}, {b, now.Add(59 * time.Second), false}, {b, now.Add(time.Minute), true}, {a, now.Add(time.Minute), false}} {
		if first, err := row.on.UseUp(bg, "text", row.now, time.Minute); first != row.first || err != nil {
			t.Errorf("used up for the first time: %v, %v; want %v", first, err, row.first)
		}
	}
	key := func(s *pgstore.Store) string {
		t.Helper()
		key, err := s.SharedKey(bg)
		kit.Must(t, err)
		return string(key)
	}
	first := key(a)
	if key(b) != first {
		t.Error("two nodes have two keys")
	}
	a.Close()
	c := open(t, database, pgstore.Options{})
	if key(c) != first {
		t.Error("a node that comes while another is there has another key")
	}
	b.Close()
	c.Close()
	if d := open(t, database, pgstore.Options{}); key(d) == first {
		t.Error("the key outlived all nodes")
	} else {
		d.Close()
	}
}

// TestNameTaken: a server that starts with the name of another takes its place, which is
// what a restart after a kill does. The one that still runs ends.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	database := pgstore.WithTables(t)
	old := open(t, database, pgstore.Options{Node: "one"})
	began := time.Now()
	s := open(t, database, pgstore.Options{Node: "one"})
	defer s.Close()
	if nodes := awaitShards(t, s, 1); len(nodes) != 1 {
		t.Errorf("nodes: %+v", nodes)
	}
	t.Logf("it has everything after %v", time.Since(began))
	<-old.Life().Done()
	if err := context.Cause(old.Life()); !strings.Contains(err.Error(), "another one was started as one") {
		t.Error(err)
	}
	if err := old.Probe(bg); store.CodeOf(err) != store.CodeUnavailable {
		t.Error(err)
	}
	old.Close()
}
