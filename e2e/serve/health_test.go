package serve_test

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"teamdata/app"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/server"
)

// The health checks answer on both APIs, beyond every limit, and make no commit
// while nobody asks.
func TestHealthChecks(t *testing.T) {
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := program.Serve(t, data, "--client-rate", "1")
	for range 5 {
		for _, path := range []string{server.LivePath, server.ReadyPath} {
			if status, body := p.Health(path); status != 200 || body != "ok\n" {
				t.Fatalf("%s is answered %d %s", path, status, body)
			}
			if a := kit.Get(t, program.NewOperator(t, data).Client, "http://teamdata"+path); a.Status != 200 || a.Body != "ok\n" {
				t.Fatalf("on the socket %s is answered %d %s", path, a.Status, a.Body)
			}
		}
	}
	if a := kit.Get(t, program.NewOperator(t, data).Client, "http://teamdata/admin/v1/status"); a.Status != 200 {
		t.Errorf("beside them the admin API answers %d", a.Status)
	}
}

// manager is a service manager that listens as systemd does.
type manager struct {
	*testing.T
	conn *net.UnixConn
}

func newManager(t *testing.T) *manager {
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	kit.Must(t, err)
	t.Cleanup(func() { conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return &manager{t, conn}
}

// next is what comes next, within half a minute.
func (m *manager) next() string {
	m.Helper()
	m.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	b := make([]byte, 1000)
	n, err := m.conn.Read(b)
	kit.Must(m, err)
	return string(b[:n])
}

func TestNotify(t *testing.T) {
	m := newManager(t)
	t.Setenv("WATCHDOG_USEC", "20000")
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"))
	if got := m.next(); got != "READY=1" {
		t.Errorf("the first is %s", got)
	}
	for range 3 {
		if got := m.next(); got != "WATCHDOG=1" {
			t.Errorf("while it runs it says %s", got)
		}
	}
	p.Cmd.Process.Signal(syscall.SIGTERM)
	got := m.next()
	for got == "WATCHDOG=1" {
		got = m.next()
	}
	if got != "STOPPING=1" {
		t.Errorf("at the end it says %s", got)
	}
	if err := p.Cmd.Wait(); err != nil {
		t.Errorf("it ended with %v\n%s", err, p.Out)
	}
}

// A service manager that reads nothing holds up neither the start nor the stop.
func TestNotifyUnread(t *testing.T) {
	m := newManager(t)
	full, err := net.Dial("unixgram", m.conn.LocalAddr().String())
	kit.Must(t, err)
	defer full.Close()
	for err == nil {
		full.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
		_, err = full.Write([]byte("unread"))
	}
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"))
	begun := time.Now()
	p.StopWell()
	if took := time.Since(begun); took > app.StopGrace {
		t.Errorf("it took %s to stop", took)
	}
}

// The request log of the real program: its lines are JSON, and hold nothing that
// was planted.
func TestRequestLog(t *testing.T) {
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--seed", program.Example, "--access-log", "all")
	const planted = "PLANTED"
	p.Must("GET", "/members?limit=1&secret="+planted, program.ReadKey, "Cookie", planted, "X-Request-Id", "mine")
	p.Must("POST", "/webhooks/"+planted+"/test", program.WriteKey, "Idempotency-Key", planted)
	p.Must("GET", "/members", "key_read."+planted)
	p.StopWell()
	var routes []string
	for _, line := range p.Out.Lines() {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if fields["message"] == "request" {
			routes = append(routes, fields["route"].(string))
		}
	}
	if got := strings.Join(routes, " "); got != "/api/v1/members /api/v1/webhooks/:id/test /api/v1/members" {
		t.Errorf("it logged %s", got)
	}
	for _, secret := range []string{planted, "example-reader-secret", "example-writer-secret"} {
		if strings.Contains(p.Out.String(), secret) {
			t.Errorf("the log holds %s:\n%s", secret, p.Out)
		}
	}
}

// What programs push follows the access log; other changes are always logged.
func TestPushedChangesInTheLog(t *testing.T) {
	for log, want := range map[string][]string{
		"errors": {"POST /admin/v1/orgs"},
		"all":    {"POST /admin/v1/orgs", "POST /admin/v1/orgs/o/members", "POST /admin/v1/orgs/o/audit-log"},
	} {
		data := filepath.Join(t.TempDir(), "teamdata.db")
		p := program.Serve(t, data, "--access-log", log)
		for _, command := range [][]string{
			{"org", "create", "--name", "O", "--id", "o"}, {"member", "add", "usr_1", "--role", "owner"}, {"audit", "add", "--action", "door.opened"},
		} {
			program.MustRun(t, append(command, "--data", data)...)
		}
		p.StopWell()
		var got []string
		for _, line := range p.Out.Lines() {
			var fields struct{ Message, Method, Path string }
			if err := json.Unmarshal([]byte(line), &fields); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			if fields.Message == "changed" {
				got = append(got, fields.Method+" "+fields.Path)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("--access-log %s: changes in the log are %q, want %q", log, got, want)
		}
	}
}

func TestObserveFlags(t *testing.T) {
	for flag, want := range map[string]string{
		"--access-log=some":     "is not all, errors or off",
		"--access-log-sample=0": "must be 1 or more",
		"--metrics=9464":        "is not host:port",
	} {
		out, err := program.Run(t, "serve", "--data", filepath.Join(t.TempDir(), "a.db"), "--listen", "127.0.0.1:0", flag)
		if _, failed := err.(*exec.ExitError); !failed || !strings.Contains(out, want) {
			t.Errorf("%s: %v %s", flag, err, out)
		}
	}
	if _, err := os.Stat("teamdata.db"); err == nil {
		t.Error("a data file was made")
	}
}
