package database_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

// The ways of setting up a database that docs/postgresql.md has: each takes and sends
// what clients post.
func TestDatabaseSetups(t *testing.T) {
	t.Parallel()
	for name, setUp := range map[string]func(*testing.T, *postgres.Server) string{
		"behind PgBouncer": func(t *testing.T, s *postgres.Server) string {
			return s.Pooler(t)(s.Database(t))
		},
		"a schema in the database of others": func(t *testing.T, s *postgres.Server) string {
			shared := postgres.Name(t, s.Database(t))
			admin := s.URL("postgres", shared)
			postgres.Exec(t, admin, fmt.Sprintf(`ALTER DATABASE %s OWNER TO postgres`, shared))
			postgres.Exec(t, admin, `CREATE TABLE theirs (n int)`)
			postgres.Exec(t, admin, `CREATE ROLE tenant LOGIN`)
			postgres.Exec(t, admin, `CREATE SCHEMA teamdata AUTHORIZATION tenant`)
			postgres.Exec(t, admin, fmt.Sprintf(`ALTER ROLE tenant IN DATABASE %s SET search_path = teamdata`, shared))
			return s.URL("tenant", shared)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := program.InDatabase(t, setUp(t, postgres.Start(t)))
			c := newTraffic(t, data)
			c.flows(300)
			c.end()
			if out := program.MustRun(t, "check", "--data", data.At); !strings.Contains(out, "is sound") {
				t.Errorf("check: %s", out)
			}
		})
	}
}

// A database that is dropped under its server, and made again, is not that server's: it
// ends, so that its supervisor starts it on what is there now.
func TestDatabaseMadeAgain(t *testing.T) {
	t.Parallel()
	pg := postgres.Start(t)
	database := pg.Database(t)
	name := postgres.Name(t, database)
	data := program.InDatabase(t, database)
	p := data.Serve("--seed", program.Example)
	p.AwaitHealth(http.StatusOK, "")
	p.Must("POST", "/webhooks/whe_hook/test", program.WriteKey)
	pg.Exec(t, fmt.Sprintf("DROP DATABASE %s WITH (FORCE)", name))
	pg.Exec(t, fmt.Sprintf("CREATE DATABASE %s OWNER %s TEMPLATE template0", name, postgres.Owner))
	p.Do("POST", "/webhooks/whe_hook/test", program.WriteKey) // it may be cut off by the end
	p.Do("POST", "/webhooks/whe_hook/test", program.WriteKey)
	if status := p.Ended(); status == 0 || !strings.Contains(p.Out.String(), "no longer knows this server") {
		t.Errorf("it ended with %d, and said:\n%s", status, p.Out)
	}
	if out := data.MustRun("org", "create", "--name", "New", "--id", "org_new"); !strings.Contains(out, "org_new") {
		t.Errorf("the new database can't be used: %s", out)
	}
}
