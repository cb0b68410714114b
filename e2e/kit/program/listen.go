package program

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"teamdata/e2e/kit"
)

// OnSocket is a process that listens on a Unix socket, with a client for it.
func OnSocket(t *testing.T, path, data string, flags ...string) *Process {
	t.Helper()
	p := Serve(t, data, append([]string{"--http", "--listen", "unix:" + path}, flags...)...)
	if p.URL != "unix:"+path {
		t.Fatalf("the ready file says %s", p.URL)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	p.URL, p.Client = "http://localhost", &http.Client{Transport: transport, Timeout: 30 * time.Second}
	return p
}

// Activate starts the program as systemd does: with bound sockets from file
// descriptor 3 on, and its own process id in LISTEN_PID.
func Activate(t *testing.T, pid string, flags []string, sockets ...net.Listener) *Process {
	t.Helper()
	args := append([]string{"-c", `LISTEN_PID=` + pid + ` exec "$0" "$@"`, Binary(t), "serve", "--listen", "127.0.0.1:0"}, flags...)
	cmd := exec.Command("sh", args...)
	cmd.Env = append(os.Environ(), "LISTEN_FDS="+string(rune('0'+len(sockets))), "LISTEN_FDNAMES=public:spare")
	for _, l := range sockets {
		file, err := l.(interface{ File() (*os.File, error) }).File()
		kit.Must(t, err)
		defer file.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, file)
	}
	return BeginServing(t, cmd)
}
