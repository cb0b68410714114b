package database_test

import (
	"fmt"
	"net/http"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

// A server whose clock and the database's differ by more than 30 s is not ready until
// they agree again. The database's clock is set by functions that the role finds before
// those of PostgreSQL.
func TestDatabaseClock(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	pg := postgres.Shared(t)
	database := pg.Database(t)
	name := postgres.Name(t, database)
	admin := pg.URL("postgres", name)
	set := func(ahead string) {
		t.Helper()
		for _, function := range []string{"now", "clock_timestamp"} {
			postgres.Exec(t, admin, fmt.Sprintf("CREATE OR REPLACE FUNCTION clock.%[1]s() RETURNS timestamptz LANGUAGE sql AS 'SELECT pg_catalog.%[1]s() + interval ''%[2]s'''", function, ahead))
		}
	}
	postgres.Exec(t, admin, "CREATE SCHEMA clock AUTHORIZATION "+postgres.Owner)
	set("0 s")
	postgres.Exec(t, admin, fmt.Sprintf("ALTER ROLE %s IN DATABASE %s SET search_path = clock, pg_catalog", postgres.Owner, name))
	p := program.InDatabase(t, database).Serve("--seed", program.Example)
	p.AwaitHealth(http.StatusOK, "")
	for _, ahead := range []string{"40 s", "-40 s"} {
		set(ahead)
		p.AwaitHealth(http.StatusServiceUnavailable, "clock: it and the database's differ by 40s")
		set("0 s")
		p.AwaitHealth(http.StatusOK, "")
	}
}
