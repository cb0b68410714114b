package pgstore

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
)

// reader makes a role that only reads a database, as docs/postgresql.md has it, and connects
// as it.
func reader(t *testing.T, database string) *pgconn.PgConn {
	t.Helper()
	server, role := postgres.Shared(t), "reads_"+postgres.Name(t, database)
	server.Exec(t, "CREATE ROLE "+role+" LOGIN")
	postgres.Exec(t, database, fmt.Sprintf("GRANT USAGE ON SCHEMA public TO %[1]s; GRANT SELECT ON ALL TABLES IN SCHEMA public TO %[1]s", role))
	c, err := pgconn.Connect(bg, server.URL(role, postgres.Name(t, database)))
	kit.Must(t, err)
	t.Cleanup(func() { c.Close(bg) })
	return c
}

// answers is a table with partitions.
var answers = kindTable("idempotency")

// everything does once what locks something, in an org that it makes.
func everything(t *testing.T, s *Store, org string) {
	t.Helper()
	errs := []error{
		s.Update(bg, store.All, func(tx store.Tx) error {
			_, err := store.ImportOrg(tx, store.Org{ID: org, Name: org})
			return err
		}),
		s.Update(bg, store.InOrg(org), func(tx store.Tx) error {
			_, err := store.AppendAudit(tx, store.AuditEntry{OrgID: org, Action: "test"})
			return err
		}),
		s.makePartition(bg, partition{answers, uint64(len(org))}),
	}
	if err := errors.Join(errs...); err != nil {
		t.Errorf("%s: %v", org, err)
	}
}

// A role that can only read takes the locks that it may, and keeps nobody from anything.
func TestReaderStopsNobody(t *testing.T) {
	t.Parallel()
	database := WithTables(t)
	s, err := openFor(t, database, false)
	kit.Must(t, err)
	everything(t, s, "org_before")
	const usual = 0x7465616d64617461 // which teamdata once used, with those behind it
	if _, err := reader(t, database).Exec(bg, fmt.Sprintf("SELECT pg_advisory_lock(%d + i) FROM generate_series(0, 9) i; BEGIN; SELECT FROM meta, nodes, commits, orgs, idempotency, updates", usual)).ReadAll(); err != nil {
		t.Fatal(err)
	}
	everything(t, s, "org_beside")
	another, err := openFor(t, database, false)
	kit.Must(t, err)
	everything(t, another, "org_another")
	kit.Must(t, s.Update(bg, store.All, func(store.Tx) error {
		held := postgres.Exec(t, database, "SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
		if len(held) != 10 {
			t.Errorf("%d advisory locks are held, 10 of them by the reader", len(held))
		}
		return nil
	}))
}

// However many hints somebody makes up, a node acts on few.
func TestFloodOfHints(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	postgres.Exec(t, database, "CREATE SEQUENCE beats")
	s, err := openFor(t, database, false)
	kit.Must(t, err)
	postgres.Exec(t, database, `CREATE FUNCTION count_beat() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('beats'); RETURN NULL; END $$;
		CREATE TRIGGER beat AFTER UPDATE ON nodes FOR EACH STATEMENT EXECUTE FUNCTION count_beat()`)
	var due atomic.Int64
	s.OnDue(func(uint64, time.Time) { due.Add(1) })
	attacker := reader(t, database)
	began := time.Now()
	for time.Since(began) < time.Second {
		for _, channel := range []string{"'teamdata'", "(" + sqlHintChannel + ")"} {
			sql := fmt.Sprintf("SELECT pg_notify(%s, 'nodes access 7 ' || i) FROM generate_series(1, 1000) i", channel)
			if _, err := attacker.Exec(bg, sql).ReadAll(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for due.Load() == 0 && time.Since(began) < time.Minute {
		postgres.Exec(t, database, "SELECT pg_sleep(0.01)")
	}
	took := time.Since(began)
	var beats int
	_, err = fmt.Sscan(postgres.Exec(t, database, "SELECT nextval('beats')")[0][0], &beats)
	kit.Must(t, err)
	if most := int(took/hintBeat) + 5; beats > most || beats < 2 {
		t.Errorf("%d heartbeats within %v, at most %d are due", beats, took, most)
	}
	if most := int64(took/hintDue) + maxHint; due.Load() > most || due.Load() == 0 {
		t.Errorf("it looked %d times for what is due within %v, and not at most %d times", due.Load(), took, most)
	}
}

// Two installations in two schemas of a database do not meet: one begins and goes on while
// the other has everything to itself.
func TestSchemasBesideEachOther(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	in := func(schema string) *Store {
		postgres.Exec(t, database, "CREATE SCHEMA "+schema)
		s, err := openFor(t, database+"&options=-csearch_path%3D"+schema, false)
		kit.Must(t, err)
		return s
	}
	blue, green := in("blue"), in("green")
	runs := 0
	kit.Must(t, blue.Update(bg, store.All, func(tx store.Tx) error {
		if runs++; runs == 1 { // it runs again if its transaction was left alone for too long
			everything(t, green, "org_green")
			everything(t, in("red"), "org_red")
		}
		_, err := store.ImportOrg(tx, store.Org{ID: "org_blue", Name: "Blue"})
		return err
	}))
	if runs != 1 {
		t.Error("others have waited for its end")
	}
	var channels []string
	for _, s := range []*Store{blue, green} {
		found, err := s.ask(bg, sqlHintChannel)
		kit.Must(t, err)
		channels = append(channels, string(found[0]))
	}
	if channels[0] == channels[1] {
		t.Errorf("both have the channel %s", channels[0])
	}
}

// The sweep drops what is in the own schema, also if another one in the search_path has
// partitions of the same names.
func TestSweepInSchema(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	postgres.Exec(t, database, "CREATE SCHEMA green")
	own := database + "&options=-csearch_path%3Dgreen,public"
	for _, in := range []string{database, own} {
		s, err := openFor(t, in, false)
		kit.Must(t, err)
		kit.Must(t, s.makePartition(bg, partition{answers, 5}))
		postgres.Exec(t, in, fmt.Sprintf("INSERT INTO idempotency VALUES ('key', %d, '')", 5*answers.of.Span.Milliseconds()))
		if in != own {
			continue
		}
		kit.Must(t, s.Update(bg, store.All, func(tx store.Tx) error {
			n, err := tx.ExpireIdempotencyRecords(1)
			if n != 1 {
				t.Errorf("%d records are dropped, and not 1", n)
			}
			return err
		}))
	}
	if left := postgres.Exec(t, database, "SELECT FROM public.idempotency_5"); len(left) != 1 {
		t.Errorf("%d are left of another schema, and not 1", len(left))
	}
}

// While an upgrade waits for who reads a table that it changes, such as pg_dump, the nodes
// go on.
func TestUpgradeBesideReader(t *testing.T) {
	t.Parallel()
	database := WithTables(t)
	s, err := start(t, database, "a", "v1.0.0", programs())
	kit.Must(t, err)
	reads := reader(t, database)
	if _, err := reads.Exec(bg, "BEGIN; SELECT FROM orgs").ReadAll(); err != nil {
		t.Fatal(err)
	}
	upgraded := make(chan error)
	go func() {
		_, err := start(t, database, "b", "v2.0.0", programs(expand))
		upgraded <- err
	}()
	for len(postgres.Exec(t, database, "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")) == 0 {
	}
	for i := range 20 {
		everything(t, s, fmt.Sprint("org_", i))
	}
	if _, err := reads.Exec(bg, "COMMIT").ReadAll(); err != nil {
		t.Fatal(err)
	}
	kit.Must(t, <-upgraded)
}

// Programs that make the tables at the same time all find them made.
func TestMadeAtTheSameTime(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	opened := make(chan error)
	const programs = 4
	for range programs {
		go func() {
			_, err := openFor(t, database, false)
			opened <- err
		}()
	}
	for range programs {
		if err := <-opened; err != nil {
			t.Error(err)
		}
	}
}
