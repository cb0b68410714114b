package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/cli/doctor"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

const passwordURL = "postgres://ada:hunter2@127.0.0.1:1/data?sslmode=disable"

// A password among the arguments is refused, and no command repeats it.
func TestPasswordOfDatabase(t *testing.T) {
	for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"check"}, {"org", "list"}, {"config"}, {"doctor"}, {"healthcheck"}} {
		out, err := program.Run(t, append(args, "--data", passwordURL)...)
		if err == nil || !strings.Contains(out, "PGPASSFILE") || strings.Contains(out, "hunter2") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	file := filepath.Join(t.TempDir(), "data")
	kit.Must(t, os.WriteFile(file, []byte(passwordURL+"\n"), 0o600))
	t.Setenv("TEAMDATA_DATA_FILE", file)
	for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"check"}, {"org", "list"}, {"config"}, {"config", "--json"}, {"doctor"}, {"healthcheck"}, {"export"}, {"import", program.Example}, {"backup", "copy.db"}} {
		out, err := program.Run(t, args...)
		named := strings.Contains(out, "postgres://ada@127.0.0.1:1/data") || args[0] == "healthcheck"
		if args[0] != "config" && err == nil || !named || strings.Contains(out, "hunter2") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

// Commands for whole files say what to use for a database.
func TestWholeFileCommandsOnDatabase(t *testing.T) {
	for command, advice := range map[string]string{"backup copy.db": "pg_dump", "restore copy.db": "pg_restore", "compact": "VACUUM FULL"} {
		args := append(strings.Fields(command), "--data", "postgres://ada@127.0.0.1:1/data?sslmode=disable")
		program.Says(t, exitUsage, args, "works on a data file", "hint: ", advice)
	}
	program.Says(t, exitUsage, []string{"serve", "--backup-dir", "b", "--data", "postgres://ada@127.0.0.1:1/data?sslmode=disable"}, "--backup-dir", "pg_dump")
	program.Says(t, exitUsage, []string{"serve", "--state-dir", "s", "--data", "a.db"}, "--state-dir is for a database")
}

// An import is in the export, from a file to a database and back, to the byte.
func TestExportOfDatabase(t *testing.T) {
	t.Parallel()
	database, folder := postgres.New(t), t.TempDir()
	there, back := filepath.Join(folder, "there.json"), filepath.Join(folder, "back.json")
	file := filepath.Join(folder, "teamdata.db")
	program.MustRun(t, "import", program.Example, "--data", file)
	program.MustRun(t, "export", there, "--data", file)
	program.MustRun(t, "import", there, "--data", database)
	program.MustRun(t, "export", back, "--data", database)
	if a, b := kit.ReadText(t, there), kit.ReadText(t, back); a != b {
		t.Errorf("of the file:\n%s\nof the database:\n%s", a, b)
	}
	if out, err := program.Run(t, "import", there, "--data", database); err == nil || !strings.Contains(out, "org_acme") {
		t.Errorf("again: %v\n%s", err, out)
	}
}

func TestDoctorOfDatabase(t *testing.T) {
	t.Parallel()
	database, state := postgres.Start(t).Database(t), t.TempDir() // it syncs, as that of other tests doesn't
	examine := func() []doctor.Finding { return examined(t, "--data", database, "--state-dir", state) }
	list := examine()
	finds(t, list, "database", doctor.OK, `answers in [0-9.]+(µs|ms): PostgreSQL `)
	finds(t, list, "database", doctor.OK, "clock")
	finds(t, list, "contents", doctor.OK, "none yet")
	finds(t, list, "database", doctor.OK, "1 node may open up to 13")
	program.MustRun(t, "org", "create", "--name", "Acme", "--data", database, "--state-dir", state)
	list = examine()
	finds(t, list, "contents", doctor.OK, "sound")
	finds(t, list, "seal key", doctor.OK, "in the database are in plain text")
	key := filepath.Join(state, "seal.key")
	kit.Must(t, os.WriteFile(key, []byte(strings.Repeat("4", 64)), 0o600))
	sealed := func() []doctor.Finding {
		return examined(t, "--data", database, "--state-dir", state, "--seal-key-file", key)
	}
	finds(t, sealed(), "seal key", doctor.Warning, "the next serve seals it")
	program.MustRun(t, "org", "list", "--data", database, "--state-dir", state, "--seal-key-file", key)
	finds(t, sealed(), "seal key", doctor.OK, "opens the database's secrets")
	finds(t, examine(), "seal key", doctor.Problem, "is sealed")
	postgres.Exec(t, database, "ALTER ROLE "+postgres.Owner+" SET synchronous_commit = off")
	defer postgres.Exec(t, database, "ALTER ROLE "+postgres.Owner+" RESET synchronous_commit")
	finds(t, examine(), "database", doctor.Problem, "synchronous_commit is off")
	postgres.Exec(t, database, "ALTER ROLE "+postgres.Owner+" SET default_transaction_isolation = 'serializable'")
	defer postgres.Exec(t, database, "ALTER ROLE "+postgres.Owner+" RESET default_transaction_isolation")
	finds(t, examine(), "database", doctor.OK, "are read committed, .* default, serializable")
	list = examined(t, "--data", "postgres://ada@127.0.0.1:1/data?sslmode=disable", "--state-dir", filepath.Join(state, "none"))
	finds(t, list, "database", doctor.Problem, "is down")
	finds(t, list, "state folder", doctor.Problem, "mkdir")
}

// Doctor knows the nodes of a database, and which of them was killed.
func TestDoctorOfNodes(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	database, state := postgres.New(t), t.TempDir()
	serve := func(name string) *program.Process {
		return program.Serve(t, database, "--state-dir", t.TempDir(), "--http", "--node", name)
	}
	serve("one")
	two := serve("two")
	examine := func() []doctor.Finding {
		return examined(t, "--data", database, "--state-dir", state, "--node", "one")
	}
	list := examine()
	finds(t, list, "database", doctor.OK, "2 nodes: one, two")
	finds(t, list, "database", doctor.OK, "2 nodes may open up to 26")
	finds(t, list, "database", doctor.Warning, "a node named one runs already; .*--node")
	two.Kill()
	two.Await("the loss of a node", func() bool {
		out, err := program.Run(t, "node", "list", "--data", database, "--state-dir", state)
		return err == nil && strings.Contains(out, "lost")
	})
	finds(t, examine(), "database", doctor.Warning, "the node two is lost; it was last seen at ")
}
