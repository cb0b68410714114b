package app_test

import (
	"fmt"
	"net/http"
	"testing"

	"teamdata/internal/pgtest"
	"teamdata/internal/testkit"
)

// A server whose clock and the database's differ by more than 30 s is not ready until
// they agree again. The database's clock is set by functions that the role finds before
// those of PostgreSQL.
func TestDatabaseClock(t *testing.T) {
	t.Parallel()
	postgres := pgtest.Shared(t)
	database := postgres.Database(t)
	name := pgtest.Name(t, database)
	admin := postgres.URL("postgres", name)
	set := func(ahead string) {
		t.Helper()
		for _, function := range []string{"now", "clock_timestamp"} {
			pgtest.Exec(t, admin, fmt.Sprintf("CREATE OR REPLACE FUNCTION clock.%[1]s() RETURNS timestamptz LANGUAGE sql AS 'SELECT pg_catalog.%[1]s() + interval ''%[2]s'''", function, ahead))
		}
	}
	pgtest.Exec(t, admin, "CREATE SCHEMA clock AUTHORIZATION "+pgtest.Owner)
	set("0 s")
	pgtest.Exec(t, admin, fmt.Sprintf("ALTER ROLE %s IN DATABASE %s SET search_path = clock, pg_catalog", pgtest.Owner, name))
	p := inDatabase(t, database).serve("--seed", testkit.Example)
	awaitReady(p, http.StatusOK, "")
	for _, ahead := range []string{"40 s", "-40 s"} {
		set(ahead)
		awaitReady(p, http.StatusServiceUnavailable, "clock: it and the database's differ by 40s")
		set("0 s")
		awaitReady(p, http.StatusOK, "")
	}
}
