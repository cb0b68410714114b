package app_test

import (
	"testing"
	"time"

	"teamdata/e2e/kit/postgres"
)

// A command that works on the database itself, beside a server, has that send what it
// queued.
func TestCommandBesideAServer(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	r := newFlakyReceiver(t, 1, 1)
	p := inDatabase(t, database).serve(trafficFlags(r, r.seed(t))...)
	inDatabase(t, database).run("endpoint", "test", "whe_0", "--org", "org_acme")
	queued := time.Now()
	p.Await("the webhook", func() bool { return len(r.requests()) > 0 })
	t.Logf("it came %v after the command", time.Since(queued).Round(time.Millisecond))
}
