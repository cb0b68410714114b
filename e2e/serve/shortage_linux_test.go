package serve_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// Without file descriptors of our own no attempt is counted; log and readiness say
// so, and what waits goes out once there are some again.
func TestShortOfFiles(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	arrived := make(chan bool, 9)
	hook, ca := program.ServeTLS(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- true }))
	data := filepath.Join(t.TempDir(), "teamdata.db")
	seed := kit.NewFile(t, "seed.json", `{"orgs":[{"id":"org_acme","name":"Acme",
		"members":[{"userId":"usr_ada","role":"owner"}],
		"apiKeys":[{"id":"key_w","secret":"s3cret","name":"w","scopes":["write"],"createdBy":"usr_ada"}],
		"webhooks":[{"id":"whe_1","url":"`+hook+`","events":["member.added"]}]}]}`)
	p := program.BeginServing(t, exec.Command("sh", "-c", `ulimit -n 64; exec "$0" "$@"`, program.Binary(t), "serve", "--data", data, "--seed", seed, "--http",
		"--listen", "127.0.0.1:0", "--webhook-ca", ca, "--allow-endpoint-cidr", "127.0.0.1/32"))
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
	kit.Must(t, err)
	defer conn.Close()
	answers := bufio.NewReader(conn)
	ask := func(method, path string) (body string) { // there will be no other connection
		t.Helper()
		q, err := http.NewRequest(method, p.URL+path, nil)
		kit.Must(t, err)
		q.Header.Set("Authorization", "Bearer key_w.s3cret")
		kit.Must(t, q.Write(conn))
		a, err := http.ReadResponse(answers, q)
		kit.Must(t, err)
		text, err := io.ReadAll(a.Body)
		kit.Must(t, err)
		return string(text)
	}
	limit := func(files uint64) {
		t.Helper()
		kit.Must(t, unix.Prlimit(p.Cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: files, Max: 64}, nil))
	}
	ask("GET", "/readyz")
	limit(3)
	if sent := ask("POST", "/api/v1/webhooks/whe_1/test"); !strings.Contains(sent, `"whd_`) {
		t.Errorf("a test was answered %s", sent)
	}
	p.Await("a readiness check that fails", func() bool { return strings.Contains(ask("GET", "/readyz"), "short of") })
	p.Says("too many open files")
	p.Says("fewer connections are accepted")
	limit(64)
	<-arrived
	p.Says("deliveries are being sent again")
	var list []struct{ Attempts int }
	out := program.MustRun(t, "delivery", "list", "--org", "org_acme", "--endpoint", "whe_1", "--data", data, "--json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 1 || list[0].Attempts != 1 {
		t.Errorf("the deliveries are %s (%v)", out, err)
	}
}
