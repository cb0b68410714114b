package pgstore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
)

// TestNumbersComeAgain: a node that waited for others to see changes waits for those of
// the same numbers too, which come after the data went back.
func TestNumbersComeAgain(t *testing.T) {
	t.Parallel()
	database := pgstore.WithTables(t)
	a, b := open(t, database, pgstore.Options{Node: "a"}), open(t, database, pgstore.Options{Node: "b"})
	defer a.Close()
	defer b.Close()
	for i := range 3 {
		shutOut(t, i, a, b)
	}
	await(t, database, "SELECT min(seen) = (SELECT sum(n) FROM generations) FROM nodes") // or one that never looked would find what it knows
	postgres.Exec(t, database, "UPDATE generations SET n = n - 3 WHERE name = 'access'; UPDATE nodes SET seen = -1")
	await(t, database, "SELECT min(seen) >= 0 FROM nodes")
	for i := range 2 {
		shutOut(t, i, a, b)
	}
}

// TestLaggingStandby: after a failover to a standby that lagged no node relies on what it
// knew of the old primary, and what the standby never heard of is due again.
func TestLaggingStandby(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	primary := postgres.Start(t)
	name := postgres.Name(t, primary.Database(t))
	standby := primary.Standby(t)
	both := strings.Replace(primary.TCP(name), "@", fmt.Sprintf("@127.0.0.1:%d,", standby.Port), 1) + "?sslmode=disable"
	a, b := open(t, both, pgstore.Options{Node: "a", NoHints: true}), open(t, both, pgstore.Options{Node: "b", NoHints: true})
	defer a.Close()
	defer b.Close()
	awaitShards(t, a, 2)
	e := addEndpoints(t, a, 1)[0]
	kit.Must(t, accept(a, e.OrgID, "key"))
	owner := ownerOf(t, e.Number, a, b)
	claims, err := owner.Claim(bg, e.Number, time.Now().Add(time.Hour), 1)
	if err != nil || len(claims.Claims) != 1 {
		t.Fatalf("claims %+v, %v", claims, err)
	}
	d := claims.Claims[0].Delivery
	shutOut(t, 0, a, b)
	await(t, primary.URL("postgres", name), "SELECT replay_lsn = pg_current_wal_lsn() FROM pg_stat_replication")
	standby.Exec(t, "ALTER SYSTEM SET primary_conninfo = ''")
	standby.Exec(t, "SELECT pg_reload_conf()")
	await(t, standby.URL("postgres", "postgres"), "SELECT count(*) = 0 FROM pg_stat_wal_receiver")

	for i := range 3 {
		shutOut(t, i, a, b)
	}
	scope := store.Scope{Orgs: []string{d.OrgID}, Deliveries: []string{d.ID}, Fence: claims.Fence}
	kit.Must(t, owner.Update(bg, scope, func(tx store.Tx) error {
		_, err := store.RecordAttempt(tx, d.ID, store.Attempt{Status: 200}, nil)
		return err
	}))
	owner.Release(d.ID)
	told := dueOf(owner)
	primary.Stop(t, "immediate")
	standby.Promote(t)
	touch := func() error {
		return a.Update(bg, store.All, func(tx store.Tx) error { return tx.PutOrg(store.Org{ID: "org"}) })
	}
	for touch() != nil {
		<-time.After(time.Millisecond)
	}
	for i := range 6 {
		shutOut(t, i, a, b)
	}
	for got := range told {
		if got == e.Number {
			break
		}
	}
	again, err := owner.Claim(bg, e.Number, time.Now().Add(time.Hour), 1)
	if err != nil || len(again.Claims) != 1 || again.Claims[0].Delivery.ID != d.ID {
		t.Errorf("what was acknowledged is claimed as %+v, %v", again, err)
	}
}

// await waits until a query says true.
func await(t testing.TB, database, query string) {
	t.Helper()
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
		if rows := postgres.Exec(t, database, query); len(rows) == 1 && rows[0][0] == "t" {
			return
		}
	}
}

// shutOut does what may shut somebody out on one node, and checks that the other one does
// not rely on what it knew before.
func shutOut(t testing.TB, i int, on, other *pgstore.Store) {
	t.Helper()
	before := other.AccessGeneration()
	kit.Must(t, on.Update(bg, store.All, func(tx store.Tx) error { return tx.PutOrg(store.Org{ID: fmt.Sprint("org_", i)}) }))
	if other.AccessGeneration() == before {
		t.Errorf("change %d: the other node knows nothing of it", i)
	}
}
