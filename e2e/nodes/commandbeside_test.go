package nodes_test

import (
	"testing"
	"time"

	"teamdata/e2e/kit/load"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

// A command that works on the database itself, beside a server, has that send what it
// queued.
func TestCommandBesideAServer(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	r := load.NewReceiver(t, 1, 1)
	p := program.InDatabase(t, database).Serve(load.ServerFlags(r, r.Seed(t))...)
	program.InDatabase(t, database).MustRun("endpoint", "test", "whe_0", "--org", "org_acme")
	queued := time.Now()
	p.Await("the webhook", func() bool { return len(r.Requests()) > 0 })
	t.Logf("it came %v after the command", time.Since(queued).Round(time.Millisecond))
}
