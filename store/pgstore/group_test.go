package pgstore

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/engine"
)

// Nodes that have waited for one another begin with different halves of the orgs, and
// leave no update out. One that met nobody commits its groups whole.
func TestTurns(t *testing.T) {
	database := WithTables(t)
	nodes := []*steered{steer(t, database, "one"), steer(t, database, "two")}
	var group []*engine.Update
	for i := range 3 * minTurns {
		group = append(group, &engine.Update{Scope: store.InOrg(fmt.Sprint("org_", i))})
	}
	first := map[*engine.Update]int{} // whose first turn it is in
	for i, n := range nodes {
		n.beats(1)
		if turns := n.turns(group); len(turns) != 1 || len(turns[0]) != len(group) {
			t.Fatalf("node %d met nobody, and has %d turns", i, len(turns))
		}
		n.crowded = time.Now()
		turns := n.turns(group)
		if len(turns) != 2 {
			t.Fatalf("node %d has %d turns", i, len(turns))
		}
		in := map[*engine.Update]bool{}
		for _, turn := range turns {
			for _, u := range turn {
				in[u] = true
			}
		}
		if len(turns[0])+len(turns[1]) != len(group) || len(in) != len(group) {
			t.Errorf("node %d commits %d and %d of %d", i, len(turns[0]), len(turns[1]), len(group))
		}
		for _, u := range turns[0] {
			if other, twice := first[u]; twice {
				t.Errorf("%v is in the first turn of node %d and of node %d", u.Scope.Orgs, other, i)
			}
			first[u] = i
		}
		few := group[:minTurns-1]
		if turns := n.turns(few); len(turns) != 1 {
			t.Errorf("%d updates have %d turns", len(few), len(turns))
		}
	}
}

// A node that waited for the org of another knows that it met one.
func TestCrowded(t *testing.T) {
	database := WithTables(t)
	one, two := steer(t, database, "one"), steer(t, database, "two")
	one.beats(1)
	write := func(n *steered, meanwhile func()) {
		if err := n.Update(bg, store.InOrg("org_1"), func(tx store.Tx) error {
			meanwhile()
			_, err := tx.AppendAudit(store.AuditEntry{OrgID: "org_1", Action: "test"})
			return err
		}); err != nil {
			t.Error(err)
		}
	}
	write(one, func() {})
	one.crowded = time.Time{}
	var waits sync.WaitGroup
	write(two, func() {
		waits.Go(func() { write(one, func() {}) })
		for seen := 0; seen < 3; {
			seen += len(postgres.Exec(t, database, "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"))
		}
	})
	waits.Wait()
	if one.crowded.IsZero() {
		t.Error("it does not know that it has waited for another node")
	}
}
