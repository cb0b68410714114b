package database_test

import (
	"strings"
	"testing"

	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

// A server for tests and any other one refuse each other's database, in either order,
// while the other runs and after it, so that no reset deletes what others have stored.
func TestServerForTestsOnDatabase(t *testing.T) {
	t.Parallel()
	refuses := func(d *program.Data, want string, flags ...string) {
		t.Helper()
		beside := program.InDatabase(t, d.At)
		program.Refused(t, 2, want, append(beside.Command("serve", "--http", "--listen", "127.0.0.1:0"), flags...)...)
	}
	const forTests, notForTests = "is for tests: a server with --test-clock made it", "is not for tests, and --test-clock needs one that is"

	d := program.InDatabase(t, postgres.New(t)) // which has no org yet
	p := d.Serve("--http")
	refuses(d, notForTests, "--test-clock")
	p.StopWell()
	refuses(d, notForTests, "--test-clock")

	d = program.InDatabase(t, postgres.New(t))
	p = d.Serve("--http", "--test-clock", "--seed", program.Example)
	refuses(d, forTests)
	create := program.InDatabase(t, d.At).Command("org", "create", "--name", "New")
	program.Says(t, 1, create, forTests)
	d.MustRun("org", "create", "--name", "New", "--id", "org_new")
	d.MustRun("reset", "--yes")
	if out := d.MustRun("org", "list"); strings.Contains(out, "org_new") || !strings.Contains(out, "org_acme") {
		t.Errorf("after a reset there is\n%s", out)
	}
	p.StopWell()
	refuses(d, forTests)
	refuses(d, "holds an org already", "--test-clock")
}
