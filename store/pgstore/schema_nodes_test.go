package pgstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
)

// programs are the migrations of this program, and of later ones with more steps. Each
// of those is a line with its SQL, and what may write afterwards: "any", or "next", which
// are those that know the step before.
func programs(more ...string) []migration {
	steps := slices.Clone(ownMigrations())
	for i, step := range more {
		mayWrite, sql, _ := strings.Cut(step, " ")
		number := own() + 1 + i
		from := map[string]int{"any": 1, "next": number - 1}[mayWrite]
		steps = append(steps, migration{number, from, from, sql})
	}
	return steps
}

// own is the number of the last migration of this program.
func own() int {
	_, last := ends(ownMigrations())
	return last
}

// Steps of later programs: the first expands the tables, the second contracts them.
const (
	expand   = "any ALTER TABLE orgs ADD COLUMN later bigint NOT NULL DEFAULT 7; CREATE TABLE later (n bigint)"
	contract = "next DROP TABLE later"
)

// start opens a database as a program of a version does.
func start(t testing.TB, database, node, version string, steps []migration) (*Store, error) {
	t.Helper()
	target, err := ParseTarget(database)
	kit.Must(t, err)
	s, err := Open(bg, target, Options{Node: node, Version: version, migrations: steps})
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, err
}

// writes checks that a node can write.
func writes(t testing.TB, s *Store, org string) {
	t.Helper()
	err := s.Update(bg, store.All, func(tx store.Tx) error {
		_, err := store.ImportOrg(tx, store.Org{ID: org, Name: org})
		return err
	})
	if err != nil {
		t.Errorf("%s: %v", org, err)
	}
}

// An upgrade in two steps, beside nodes of other versions: the tables are expanded
// while older ones run, which go on, and contracted when none of them does. Whoever is
// in the way is named.
func TestUpgradeBesideNodes(t *testing.T) {
	database := postgres.New(t)
	must := func(s *Store, err error) *Store {
		t.Helper()
		kit.Must(t, err)
		return s
	}
	one, two, three := programs(), programs(expand), programs(expand, contract)
	a := must(start(t, database, "a", "v1.0.0", one))
	b := must(start(t, database, "b", "v2.0.0", two))
	c := must(start(t, database, "c", "v1.0.0", one)) // back to the older one, after an upgrade
	for name, s := range map[string]*Store{"org_a": a, "org_b": b, "org_c": c} {
		writes(t, s, name)
	}
	var list []string
	nodes, err := c.Nodes(bg)
	for _, n := range nodes {
		list = append(list, n.Name+" "+n.Version)
	}
	if got := strings.Join(list, ", "); err != nil || got != "a v1.0.0, b v2.0.0, c v1.0.0" {
		t.Errorf("the nodes are %s, %v", got, err)
	}

	before := contents(t, database)
	_, err = start(t, database, "d", "v3.0.0", three)
	checkRefusal(t, err, fmt.Sprintf("what can't write schema %d", own()+2), "the node a (teamdata v1.0.0), the node c (teamdata v1.0.0)", "upgrade those first")
	a.Close()
	c.Close()
	command := must(start(t, database, "", "v1.0.0", one))
	_, err = start(t, database, "d", "v3.0.0", three)
	checkRefusal(t, err, fmt.Sprintf("schema %d", own()+2), "a command (teamdata v1.0.0)", "or stop them")
	command.Close()
	if now := contents(t, database); now != before {
		t.Errorf("a refusal changed it to %s", now)
	}
	writes(t, must(start(t, database, "d", "v3.0.0", three)), "org_d")
	writes(t, b, "org_e")
	_, err = start(t, database, "a", "v1.0.0", one)
	checkRefusal(t, err, fmt.Sprintf("has schema %d, which a newer teamdata wrote", own()+2), "run the newer one")
}

// A node that hangs while an upgrade leaves its version behind ends when it comes back:
// it writes nothing to tables that it does not know.
func TestUpgradeLeavesLostNodesBehind(t *testing.T) {
	server := postgres.Shared(t)
	proxy := postgres.NewProxy(t, server)
	database := server.Database(t)
	lost, err := start(t, proxy.URL(postgres.Name(t, database)), "lost", "v1.0.0", programs())
	kit.Must(t, err)
	proxy.Hold(postgres.ToServer)
	var s *Store
	for range 3 { // one of its heartbeats may have been on the way
		postgres.Exec(t, database, "UPDATE nodes SET seen_at = 0 WHERE name = 'lost'")
		if s, err = start(t, database, "new", "v3.0.0", programs(expand, contract)); err == nil {
			break
		}
	}
	kit.Must(t, err)
	writes(t, s, "org_new")
	proxy.Resume(postgres.ToServer)
	<-lost.Life().Done()
	if err := context.Cause(lost.Life()); !strings.Contains(err.Error(), "a newer teamdata upgraded the database") {
		t.Error(err)
	}
}

// A node that starts while a newer program upgrades the tables is refused, although it
// found them as it knows them.
func TestUpgradeMeetsAStart(t *testing.T) {
	database := postgres.New(t)
	one := programs()
	s, err := start(t, database, "a", "v1.0.0", one)
	kit.Must(t, err)
	s.Close()
	upgrade, err := pgconn.Connect(bg, database)
	kit.Must(t, err)
	defer upgrade.Close(bg)
	if _, err := upgrade.Exec(bg, fmt.Sprintf("BEGIN; SELECT FROM meta FOR UPDATE; UPDATE meta SET schema = %d, may_read = %d, may_write = %[2]d", own()+2, own()+1)).ReadAll(); err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 1)
	go func() {
		_, err := start(t, database, "a", "v1.0.0", one)
		refused <- err
	}()
	for waits := false; !waits; {
		waits = len(postgres.Exec(t, database, "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")) > 0
	}
	if _, err := upgrade.Exec(bg, "COMMIT").ReadAll(); err != nil {
		t.Fatal(err)
	}
	checkRefusal(t, <-refused, fmt.Sprintf("has schema %d, which a newer teamdata wrote", own()+2))
	if n := postgres.Exec(t, database, "SELECT count(*) FROM nodes")[0][0]; n != "0" {
		t.Errorf("%s nodes are registered", n)
	}
}
