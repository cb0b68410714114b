package bench_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"teamdata/app"
	"teamdata/cli/bench"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

// databaseConfig is a run of everything on a database, which lasts a moment.
func databaseConfig(t testing.TB, database string) bench.Config {
	return bench.Config{
		Program: program.Binary(t), Dir: t.TempDir(), Place: "database", Rounds: 1, Duration: 20 * time.Millisecond,
		Events: 200, Rate: 1, Members: 300, Waiting: 1500,
		Database: func(ctx context.Context, away time.Duration) (bench.Database, error) {
			return app.NewScratch(ctx, database, 64, away)
		},
	}
}

const tables = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"

// Everything is measured in a database that holds something else, which is left as it
// was.
func TestDatabase(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	database := postgres.New(t)
	postgres.Exec(t, database, "CREATE TABLE orgs (id text)")
	before := postgres.Exec(t, database, tables)
	report := measure(t, databaseConfig(t, database))
	var got []string
	for _, f := range report.Figures {
		check(t, f, f.Name != "insert")
		got = append(got, f.Name)
	}
	const want = "insert accept accept-hot accept-grouped accept-away accept-away-hot " +
		"nodes.2 nodes.4 nodes-hot.2 nodes-hot.4 nodes-away.2 nodes-away.4 nodes-away-hot.2 nodes-away-hot.4 outcome outcome-each page ready"
	if strings.Join(got, " ") != want {
		t.Errorf("the figures are %v, not %s", got, want)
	}
	var table strings.Builder
	if err := report.WriteTable(&table); err != nil || !strings.Contains(table.String(), "measured with the database\n") {
		t.Errorf("%v in\n%s", err, &table)
	}
	if len(report.Notes) > 0 {
		t.Errorf("noted: %v", report.Notes)
	}
	if after := postgres.Exec(t, database, tables); len(after) != len(before) || len(after) != 1 {
		t.Errorf("the tables are %v, not %v", after, before)
	}
}

// A run that is ended leaves nothing either, and a role without the right to make a
// schema is refused by name.
func TestDatabaseRefused(t *testing.T) {
	database := postgres.New(t)
	c := databaseConfig(t, database)
	c.Only = []string{"outcome"}
	ctx, cancel := context.WithCancel(t.Context())
	c.Progress = func(step string) {
		if strings.HasPrefix(step, "outcome: round") {
			cancel()
		}
	}
	if _, err := bench.Run(ctx, c); err != context.Canceled {
		t.Errorf("after its end: %v", err)
	}
	if left := postgres.Exec(t, database, tables); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	postgres.Shared(t).Exec(t, "ALTER DATABASE "+postgres.Name(t, database)+" OWNER TO postgres")
	if _, err := bench.Run(t.Context(), databaseConfig(t, database)); err == nil || !strings.Contains(err.Error(), "too few rights") {
		t.Errorf("without the right: %v", err)
	}
}
