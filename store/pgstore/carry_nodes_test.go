package pgstore

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
)

// read reads a database as migrate does, and returns the ids of its orgs.
func read(t testing.TB, database string) (orgs []string, err error) {
	t.Helper()
	target, err := ParseTarget(database)
	kit.Must(t, err)
	return orgs, Read(bg, target, nil, "data file copy.db", func(from store.Source) error {
		return from.Dump(bg, func(kind store.Kind, key, _ []byte) error {
			if kind == "orgs" {
				orgs = append(orgs, string(key))
			}
			return nil
		})
	})
}

func fillNothing(t testing.TB, database string) error {
	t.Helper()
	target, err := ParseTarget(database)
	kit.Must(t, err)
	return Fill(bg, target, nil, func(store.Carrier) error { return nil })
}

// A server that uses a database is seen, however its connections are named.
func TestCarrySeesServers(t *testing.T) {
	t.Parallel()
	database := WithTables(t)
	_, err := start(t, database+"&application_name=shop", "a", "v1.0.0", programs())
	kit.Must(t, err)
	_, err = read(t, database)
	checkRefusal(t, err, "is in use: the node a (teamdata v1.0.0)", "stop the servers")
	checkRefusal(t, fillNothing(t, database), "is in use: the node a (teamdata v1.0.0)", "stop the servers")
}

// A server that is paused for so long that it looks dead ends when it comes back, and none
// starts on what was carried away.
func TestCarryEndsServers(t *testing.T) {
	t.Parallel()
	server := postgres.Shared(t)
	proxy := postgres.NewProxy(t, server)
	database := server.Database(t)
	paused, err := start(t, proxy.URL(postgres.Name(t, database)), "a", "v1.0.0", programs())
	kit.Must(t, err)
	writes(t, paused, "org_1")
	proxy.Hold(postgres.ToServer)
	var orgs []string
	for range 3 { // one of its heartbeats may have been on the way
		postgres.Exec(t, database, "UPDATE nodes SET seen_at = 0")
		if orgs, err = read(t, database); err == nil {
			break
		}
	}
	if err != nil || fmt.Sprint(orgs) != "[org_1]" {
		t.Fatalf("carried are %v, %v", orgs, err)
	}
	proxy.Resume(postgres.ToServer)
	<-paused.Life().Done()
	if got := orgsOf(t, database); got != "[[org_1]]" {
		t.Errorf("after it was carried there are %s", got)
	}
	for _, node := range []string{"a", ""} {
		_, err = start(t, database, node, "v1.0.0", programs())
		checkRefusal(t, err, "was carried to data file copy.db by teamdata migrate", "give that in --data", "UPDATE meta SET carried_to = ''")
	}
	checkRefusal(t, fillNothing(t, database), "was carried to data file copy.db")
	if orgs, err = read(t, database); err != nil || len(orgs) != 1 {
		t.Errorf("carried again are %v, %v", orgs, err)
	}
	if err := exportable(t, database); err != nil {
		t.Errorf("it can't be exported: %v", err)
	}
	postgres.Exec(t, database, "UPDATE meta SET carried_to = ''")
	s, err := start(t, database, "a", "v1.0.0", programs())
	kit.Must(t, err)
	writes(t, s, "org_2")
}

func orgsOf(t testing.TB, database string) string {
	t.Helper()
	return fmt.Sprint(postgres.Exec(t, database, "SELECT convert_from(key, 'UTF8') FROM orgs ORDER BY key"))
}

func exportable(t testing.TB, database string) error {
	t.Helper()
	target, err := ParseTarget(database)
	kit.Must(t, err)
	s, err := Open(bg, target, Options{Exporting: true})
	if err != nil {
		return err
	}
	return s.Close()
}

// A server that was paused while its database was filled does not write on what it knew.
func TestFillEndsServers(t *testing.T) {
	t.Parallel()
	database := WithTables(t)
	paused := steer(t, database, "a")
	postgres.Exec(t, database, "UPDATE nodes SET seen_at = 0")
	kit.Must(t, fillNothing(t, database))
	err := paused.Probe(bg)
	if store.CodeOf(err) != store.CodeUnavailable || context.Cause(paused.Life()) == nil {
		t.Errorf("it goes on: %v", err)
	}
}

// A copy that fails leaves its source as it was.
func TestCarryFails(t *testing.T) {
	t.Parallel()
	database := WithTables(t)
	s, err := start(t, database, "a", "v1.0.0", programs())
	kit.Must(t, err)
	kit.Must(t, s.Close())
	before, failed := contents(t, database), errors.New("on purpose")
	target, err := ParseTarget(database)
	kit.Must(t, err)
	if err := Read(bg, target, nil, "data file copy.db", func(store.Source) error { return failed }); err != failed {
		t.Errorf("it ends with %v", err)
	}
	if now := contents(t, database); now != before {
		t.Errorf("it is %s now", now)
	}
}

// What is committed while the copy waits for its locks is in it.
func TestReadAwaitsCommits(t *testing.T) {
	t.Parallel()
	database := WithTables(t)
	s, err := start(t, database, "a", "v1.0.0", programs())
	kit.Must(t, err)
	writes(t, s, "org_1")
	kit.Must(t, s.Close())
	last, err := pgconn.Connect(bg, database)
	kit.Must(t, err)
	defer last.Close(bg)
	if _, err := last.Exec(bg, "BEGIN; INSERT INTO orgs SELECT 'org_2', value FROM orgs").ReadAll(); err != nil {
		t.Fatal(err)
	}
	var orgs []string
	done := make(chan error, 1)
	go func() {
		var err error
		orgs, err = read(t, database)
		done <- err
	}()
	for waits := false; !waits; {
		waits = len(postgres.Exec(t, database, "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")) > 0
	}
	if _, err := last.Exec(bg, "COMMIT").ReadAll(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || fmt.Sprint(orgs) != "[org_1 org_2]" {
		t.Errorf("carried are %v, %v", orgs, err)
	}
}
