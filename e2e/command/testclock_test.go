package command

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// A server with a test clock is for this machine, and for data of its own.
func TestTestClockIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "teamdata.db")
	kit.WriteFile(t, file, "anything")
	t.Cleanup(func() { // after the parallel tests below
		if text := kit.ReadText(t, file); text != "anything" {
			t.Errorf("the existing file holds %q", text)
		}
	})
	serveRefuses(t, exitUsage, map[string]refusal{
		"all addresses":    {[]string{"--test-clock", "--listen", "0.0.0.0:0"}, `--listen 0\.0\.0\.0:0 is for a server that others reach`},
		"no address":       {[]string{"--test-clock", "--listen", ":0"}, "--listen :0 is for a server that others reach"},
		"all of IPv6":      {[]string{"--test-clock", "--listen", "[::]:0"}, "--listen .* is for a server that others reach"},
		"another address":  {[]string{"--test-clock", "--listen", "192.0.2.1:0"}, "--listen .* is for a server that others reach"},
		"a name":           {[]string{"--test-clock", "--listen", "localhost.example.com:0"}, "--listen .* is for a server that others reach"},
		"a Unix socket":    {[]string{"--test-clock", "--listen", "unix:" + filepath.Join(t.TempDir(), "s")}, "--listen .* is for a server that others reach"},
		"a domain":         {[]string{"--test-clock", "--domain", "data.example.com", "--acme-accept-terms"}, "--domain is for a server that others reach"},
		"a public URL":     {[]string{"--test-clock", "--public-url", "https://data.example.com"}, "--public-url is for a server that others reach"},
		"a seed once":      {[]string{"--test-clock", "--seed", "-"}, "--seed - can be read only once"},
		"a proxy":          {[]string{"--test-clock", "--trusted-proxies", "loopback"}, "--trusted-proxies is for a server that others reach"},
		"public metrics":   {[]string{"--test-clock", "--metrics", "0.0.0.0:0"}, "--metrics .* is for a server that others reach"},
		"an existing file": {[]string{"--test-clock", "--data", file}, "exists already, and --test-clock needs a new one"},
	}, leftNothing)
}

// hook is a receiver over plain HTTP, which refuses everything.
func hook(t *testing.T) (url string, attempts *atomic.Int64) {
	attempts = new(atomic.Int64)
	r := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		attempts.Add(1)
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(r.Close)
	return r.URL, attempts
}

// seedOf is a fixture of an org with one endpoint, and keys.
func seedOf(t *testing.T, url string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "seed.json")
	kit.WriteFile(t, file, fmt.Sprintf(`{"orgs":[{"id":"org_acme","name":"Acme","members":[{"userId":"usr_ada","role":"owner"}],
		"apiKeys":[{"id":"key_test","secret":"s3cret","name":"test","scopes":["read","write"],"createdBy":"usr_ada"}],
		"webhooks":[{"id":"whe_1","url":%q,"events":["member.added"]}]}]}`, url))
	return file
}

const seedKey = "key_test.s3cret"

// Everything that a server with a test clock answers says so, and so do its log and
// its ready file.
func TestTestClockIsTold(t *testing.T) {
	p, told := serveForTests(t, filepath.Join(t.TempDir(), "teamdata.db"), "--http", "--seed", program.Example)
	if !told.TestClock {
		t.Error("the ready file does not say so")
	}
	p.Says("this is a server for tests (--test-clock)")
	for _, path := range []string{"/api/v1/members", "/api/v1/none", "/none", "/", "/admin/v1/status", "/settings/sign-in", "/settings/none", "/settings/assets/none", "/docs", "/livez", "/readyz"} {
		r := kit.Get(t, http.DefaultClient, told.URL+path)
		if r.Header.Get("Teamdata-Test-Clock") == "" {
			t.Errorf("%s: %v", path, r.Header)
		}
		if strings.Contains(r.Header.Get("Content-Type"), "html") && strings.HasPrefix(path, "/settings") && !strings.Contains(r.Body, "A server for tests.") {
			t.Errorf("%s does not say so:\n%s", path, r.Body)
		}
	}
}

// No other server has a test clock, or says that it has one.
func TestNoTestClock(t *testing.T) {
	data := filepath.Join(t.TempDir(), "teamdata.db")
	url, _ := hook(t)
	out, err := program.Run(t, "serve", "--data", data, "--listen", "127.0.0.1:0", "--seed", seedOf(t, url))
	if message, _ := program.ErrorOf(out); err == nil || !strings.Contains(message, "orgs[0].webhooks[0].url: must start with https://") {
		t.Errorf("a seed with an http:// URL: %v\n%s", err, out)
	}
	p := program.Serve(t, data, "--seed", program.Example, "--allow-endpoint-cidr", "127.0.0.1/32")
	if strings.Contains(p.Out.String(), "for tests") {
		t.Errorf("it says that it is for tests\n%s", p.Out)
	}
	a := p.Must("GET", "/members", program.ReadKey)
	if a.Header.Get("Teamdata-Test-Clock") != "" {
		t.Errorf("its answers have %v", a.Header)
	}
	const hint = "it has no clock of its own; start it with: teamdata serve --test-clock"
	for _, args := range [][]string{{"clock", "show"}, {"clock", "advance", "13h"}, {"reset", "--yes"}} {
		out, err := program.Run(t, append(args, "--data", data)...)
		if message, _ := program.ErrorOf(out); err == nil || !strings.Contains(message, hint) {
			t.Errorf("teamdata %v: %v\n%s", args, err, out)
		}
	}
	for _, args := range [][]string{{"create", "--events", "member.added"}, {"update", "whe_hook"}} {
		out, err := program.Run(t, append([]string{"endpoint"}, append(args, "--org", "org_acme", "--url", url, "--data", data)...)...)
		if err == nil || !strings.Contains(out, "url: must start with https://") {
			t.Errorf("teamdata endpoint %v: %v\n%s", args, err, out)
		}
	}
	if again := p.Must("GET", "/members", program.ReadKey); again.Body != a.Body {
		t.Errorf("the members are %s, and were %s", again.Body, a.Body)
	}
}

// An endpoint that a server for tests accepted gets nothing over plain HTTP from any
// other server.
func TestPlainHTTPEndsWithTheTestClock(t *testing.T) {
	data := filepath.Join(t.TempDir(), "teamdata.db")
	url, attempts := hook(t)
	p, _ := serveForTests(t, data, "--seed", seedOf(t, url))
	program.MustRun(t, "endpoint", "test", "whe_1", "--data", data)
	program.MustRun(t, "clock", "advance", "1s", "--data", data)
	if attempts.Load() != 1 {
		t.Errorf("%d attempts arrived", attempts.Load())
	}
	p.StopWell()

	p = program.Serve(t, data, "--allow-endpoint-cidr", "127.0.0.1/32")
	var sent struct{ ID string }
	kit.Must(t, json.Unmarshal([]byte(p.Must("POST", "/webhooks/whe_1/test", seedKey).Body), &sent))
	var shown string
	p.Await("the attempt", func() bool {
		shown = program.MustRun(t, "delivery", "show", sent.ID, "--data", data)
		return strings.Contains(shown, "\nattempts:\n")
	})
	if !strings.Contains(shown, "plain HTTP refused") || attempts.Load() != 1 {
		t.Errorf("%d attempts arrived:\n%s", attempts.Load(), shown)
	}
}

// A move ends when the server does, which does not wait for it.
func TestStopWhileTheClockMoves(t *testing.T) {
	t.Parallel()
	data, arrived := filepath.Join(t.TempDir(), "teamdata.db"), make(chan struct{}, 10)
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		arrived <- struct{}{}
		io.Copy(io.Discard, q.Body) // or else the end of the connection goes unnoticed
		<-q.Context().Done()
	}))
	defer hanging.Close()
	p, _ := serveForTests(t, data, "--seed", seedOf(t, hanging.URL), "--attempt-timeout", "1s")
	program.MustRun(t, "endpoint", "test", "whe_1", "--data", data)
	move := program.Begin(t, exec.Command(program.Binary(t), "clock", "advance", "1h", "--data", data))
	for range 2 { // the second at a time that the move leads to
		<-arrived
	}
	p.StopWell()
	if err := move.Cmd.Wait(); err == nil || !strings.Contains(move.Out.String(), "The server is stopping") {
		t.Errorf("the move ended with %v\n%s", err, move.Out)
	}
}

// readyFile is what --ready-file tells.
type readyFile struct {
	URL, CAFile string
	PID         int
	TestClock   bool
}

// serveForTests serves with a test clock, and tells on the standard output when it is
// ready.
func serveForTests(t testing.TB, data string, flags ...string) (*program.Process, readyFile) {
	t.Helper()
	in, out, err := os.Pipe()
	kit.Must(t, err)
	t.Cleanup(func() { in.Close() })
	cmd := exec.Command(program.Binary(t), append([]string{"serve", "--test-clock", "--data", data, "--listen", "127.0.0.1:0", "--ready-file", "-"}, flags...)...)
	cmd.Stdout = out
	p := program.Begin(t, cmd)
	out.Close()
	line, err := bufio.NewReader(in).ReadString('\n')
	var told readyFile
	if err != nil || json.Unmarshal([]byte(line), &told) != nil || told.PID != cmd.Process.Pid {
		t.Fatalf("it told %q (%v) and said\n%s", line, err, p.Out)
	}
	if _, _, err := net.SplitHostPort(strings.SplitN(told.URL, "//", 2)[1]); err != nil {
		t.Errorf("it is at %s", told.URL)
	}
	return p, told
}
