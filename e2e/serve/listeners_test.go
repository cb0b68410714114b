package serve_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// On a Unix socket each peer is a proxy whose word about the client counts. One
// that a killed server left is replaced, one that is in use is not.
func TestUnixSocket(t *testing.T) {
	folder := t.TempDir()
	path, data := filepath.Join(folder, "http.sock"), filepath.Join(folder, "teamdata.db")
	p := program.OnSocket(t, path, data, "--seed", program.Example, "--client-rate", "1")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("the socket is %v, %v", info.Mode(), err)
	}
	for _, row := range []struct {
		client string
		want   int
	}{{"203.0.113.1", 200}, {"203.0.113.1", 429}, {"203.0.113.2", 200}} {
		if a := p.Must("GET", "/members", program.ReadKey, "X-Forwarded-For", row.client); a.Status != row.want {
			t.Errorf("%s: answered %d, want %d", row.client, a.Status, row.want)
		}
	}
	out, err := program.Run(t, "serve", "--data", filepath.Join(folder, "other.db"), "--listen", "unix:"+path)
	if line, ok := program.ErrorOf(out); err == nil || !ok || !strings.Contains(line, "is taken by another program that listens there; choose another path with --listen") {
		t.Errorf("a second server: %v %s", err, out)
	}
	p.Kill()
	p = program.OnSocket(t, path, data)
	if a := p.Must("GET", "/members", program.ReadKey); a.Status != 200 {
		t.Errorf("after kill -9 it answered %d", a.Status)
	}
	p.StopWell()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
}

// activate starts the program over plain HTTP as systemd does.
func activate(t *testing.T, pid string, sockets ...net.Listener) *program.Process {
	t.Helper()
	data := filepath.Join(t.TempDir(), "teamdata.db")
	return program.Activate(t, pid, []string{"--http", "--data", data, "--seed", program.Example}, sockets...)
}

func TestSocketActivation(t *testing.T) {
	public := kit.Loopback(t)
	spare := kit.ListenOn(t, kit.Reserved(t))
	p := activate(t, "$$", public, spare)
	if want := "http://" + public.Addr().String(); p.URL != want {
		t.Fatalf("it listens on %s, not on %s", p.URL, want)
	}
	spare.Close() // ours, which leaves that of the program
	if c, err := net.Dial("tcp", spare.Addr().String()); err == nil {
		c.Close()
		t.Error("the second socket is still open")
	}
	if a := p.Must("GET", "/members", program.ReadKey); a.Status != 200 {
		t.Errorf("answered %d", a.Status)
	}
	if !strings.Contains(p.Out.String(), `"sockets":["spare"]`) {
		t.Errorf("nothing says that the second socket is not used:\n%s", p.Out)
	}
}

// A handed over Unix socket is the service manager's: its file stays.
func TestSocketActivationOnUnix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "http.sock")
	l, err := net.Listen("unix", path)
	kit.Must(t, err)
	defer l.Close()
	p := activate(t, "$$", l)
	if p.URL != "unix:"+path {
		t.Errorf("the ready file says %s", p.URL)
	}
	p.StopWell()
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the socket: %v", err)
	}
}

// What is handed over and is no listener, or is not there, is an error of the socket unit,
// told in one line.
func TestHandedOverWrong(t *testing.T) {
	bound, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	kit.Must(t, err)
	file := os.NewFile(uintptr(bound), "bound")
	defer file.Close()
	kit.Must(t, syscall.Bind(bound, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	for count, want := range map[string]string{
		"1":       "can't listen on the passed socket LISTEN_FD_3: it does not listen; check the socket unit",
		"1000000": "LISTEN_FDS announces 1000000 sockets, but there are fewer; check the socket unit",
	} {
		data := filepath.Join(t.TempDir(), "teamdata.db")
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // one that starts does not end
		cmd := exec.CommandContext(ctx, "sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, program.Binary(t), "serve", "--http", "--data", data)
		cmd.Env, cmd.ExtraFiles = append(os.Environ(), "LISTEN_FDS="+count), []*os.File{file}
		out, err := cmd.CombinedOutput()
		cancel()
		if line, alone := program.ErrorOf(string(out)); !alone || !strings.Contains(line, want) || cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("of %s it said, and ended with %v:\n%.1000s", count, err, out)
		}
		if _, err := os.Lstat(data); err == nil {
			t.Errorf("of %s it left a data file", count)
		}
	}
}

// What was meant for another process is let be.
func TestNotActivated(t *testing.T) {
	public := kit.Loopback(t)
	if p := activate(t, "1", public); p.URL == "http://"+public.Addr().String() {
		t.Error("it took the socket of another process")
	}
}

// What the flags about listeners refuse.
func TestListenFlags(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, "teamdata.db")
	kit.WriteFile(t, filepath.Join(folder, "file"), "mine")
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"bad proxy":       {[]string{"--trusted-proxies", "10.0.0.0/8,nginx"}, `--trusted-proxies: "nginx" is not a CIDR or an address; write it like`},
		"untrusted":       {[]string{"--proxy-protocol"}, "--proxy-protocol needs --trusted-proxies"},
		"max-conns":       {[]string{"--max-conns", "-1"}, "--max-conns must be 0"},
		"max per client":  {[]string{"--max-conns-per-client", "-1"}, "--max-conns-per-client must be 0"},
		"no socket":       {[]string{"--listen", "unix:"}, "lacks the path of the socket"},
		"no link":         {[]string{"--listen", "unix:x.sock", "--smtp-url", "smtp://h", "--mail-from", "a@b.example"}, "needs --public-url"},
		"no socket's":     {[]string{"--listen", "unix:" + filepath.Join(folder, "file")}, "choose another path with --listen|is not a socket; move it away"},
		"no folder":       {[]string{"--listen", "unix:" + filepath.Join(folder, "no", "x.sock")}, "can't be made"},
		"the admin's own": {[]string{"--listen", "unix:" + data + ".sock"}, "is the socket of the admin API"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := program.Run(t, append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0"}, row.args...)...)
			line, ok := program.ErrorOf(out)
			if _, failed := err.(*exec.ExitError); !failed || !ok || !containsAny(line, row.want) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func containsAny(text, alternatives string) bool {
	for want := range strings.SplitSeq(alternatives, "|") {
		if strings.Contains(text, want) {
			return true
		}
	}
	return false
}

// Connections of the listeners beside the public one count like any other.
func TestBoundsOfAllListeners(t *testing.T) {
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--max-conns-per-client", "3", "--metrics", "127.0.0.1:0",
		"--domain", program.Domain, "--acme-accept-terms", "--acme-directory", "https://127.0.0.1:1/", "--acme-http", "127.0.0.1:0")
	metrics, acme := p.Port("serving metrics", `"url":"http://`), p.Port("over plain HTTP", `"address":"`)
	for i, port := range []int{metrics, acme, metrics, metrics, acme} {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if errors.Is(err, syscall.ECONNRESET) && i >= 3 { // refused before the client saw it open
			continue
		}
		kit.Must(t, err)
		defer c.Close()
		c.SetDeadline(time.Now().Add(20 * time.Second))
		io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
		n, err := c.Read(make([]byte, 1))
		if refused := n == 0; refused != (i >= 3) {
			t.Errorf("connection %d, to port %d of %d and %d: refused %t, %v", i+1, port, metrics, acme, refused, err)
		}
	}
}
