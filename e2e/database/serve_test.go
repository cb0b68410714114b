package database_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

// A server on a database answers, sends webhooks, and keeps what belongs to it in the
// folder of --state-dir; the commands find the data with it and without it.
func TestServeOnDatabase(t *testing.T) {
	t.Parallel()
	database, state := postgres.New(t), t.TempDir()
	received := make(chan string, 16)
	hook, ca := program.ServeTLS(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received <- string(body)
	}))
	flags := []string{"--state-dir", state, "--seed", program.Example, "--webhook-ca", ca, "--allow-endpoint-cidr", "127.0.0.0/8"}
	on := []string{"--data", database, "--state-dir", state}
	run := func(args ...string) string { t.Helper(); return program.MustRun(t, append(args, on...)...) }

	p := program.Serve(t, database, flags...)
	if a := p.Must("GET", "/members", program.ReadKey); a.Status != http.StatusOK || !strings.Contains(a.Body, "usr_ada") {
		t.Fatalf("members: %d %s", a.Status, a.Body)
	}
	run("endpoint", "create", "--org", "org_acme", "--url", hook, "--events", "member.added", "--id", "whe_1")
	run("member", "add", "usr_new", "--org", "org_acme", "--role", "member")
	if body := <-received; !strings.Contains(body, "usr_new") {
		t.Errorf("received %s", body)
	}
	for _, name := range []string{"teamdata.sock", "teamdata.ca.pem"} {
		if _, err := os.Stat(filepath.Join(state, name)); err != nil {
			t.Error(err)
		}
	}
	run("healthcheck")
	if status := run("status"); !strings.Contains(status, postgres.Name(t, database)) {
		t.Errorf("status does not name the database:\n%s", status)
	}
	if out, err := program.Run(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, on...)...); err == nil || !strings.Contains(out, "--state-dir") {
		t.Errorf("a second server with the same folder: %v\n%s", err, out)
	}
	p.StopWell()

	run("member", "add", "usr_offline", "--org", "org_acme", "--role", "member")
	p = program.Serve(t, database, flags...) // what was queued without a server is sent
	if body := <-received; !strings.Contains(body, "usr_offline") {
		t.Errorf("received %s", body)
	}
	p.Says("--seed is ignored")
	p.StopWell()
	if out := program.MustRun(t, "check", "--data", database); !strings.Contains(out, "is sound") {
		t.Errorf("check: %s", out)
	}
}
