package app_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"teamdata/internal/pgtest"
	"teamdata/internal/testkit"
	"teamdata/server"
)

// While the database is away the server lives on and says why it isn't ready; writes
// are answered 503; and it comes back by itself, with what was acknowledged and
// attempts to spare.
func TestDatabaseAway(t *testing.T) {
	postgres := pgtest.Start(t)
	database, state := postgres.Database(t), t.TempDir()
	received := make(chan string, 16)
	hook, ca := serveTLS(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received <- string(body)
	}))
	on := []string{"--data", database, "--state-dir", state}
	p := testkit.Serve(t, database, "--state-dir", state, "--seed", testkit.Example, "--webhook-ca", ca, "--allow-endpoint-cidr", "127.0.0.0/8")
	testkit.MustRun(t, append([]string{"endpoint", "create", "--org", "org_acme", "--url", hook, "--events", "member.added", "--id", "whe_1"}, on...)...)

	postgres.Stop(t, "immediate")
	p.Await("not ready", func() bool { status, _ := health(p, server.ReadyPath); return status == http.StatusServiceUnavailable })
	if _, body := health(p, server.ReadyPath); !strings.Contains(body, "commit: the database") {
		t.Errorf("not ready says %q", body)
	}
	if status, body := health(p, server.LivePath); status != http.StatusOK {
		t.Errorf("it does not live: %d %s", status, body)
	}
	if a := p.Must("GET", "/members", testkit.ReadKey); a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
		t.Errorf("a read is answered %d %v %s", a.Status, a.Header, a.Body)
	}
	add := append([]string{"member", "add", "usr_new", "--org", "org_acme", "--role", "member"}, on...)
	if out, err := testkit.Run(t, add...); err == nil || !strings.Contains(out, "can't be used right now") {
		t.Errorf("a write: %v %s", err, out)
	}

	postgres.Start(t)
	p.Await("ready", func() bool { status, _ := health(p, server.ReadyPath); return status == http.StatusOK })
	testkit.MustRun(t, add...)
	if body := <-received; !strings.Contains(body, "usr_new") {
		t.Errorf("received %s", body)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("%v\n%s", err, p.Out)
	}
	postgres.Stop(t, "immediate")
	if out, err := testkit.Run(t, "serve", "--data", database, "--state-dir", state, "--listen", "127.0.0.1:0"); err == nil || !strings.Contains(out, "is down") {
		t.Errorf("a start without the database: %v %s", err, out)
	}
}
