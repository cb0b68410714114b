package proxy_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// streamModule is where Debian's package libnginx-mod-stream puts it.
const streamModule = "/usr/lib/nginx/modules/ngx_stream_module.so"

// nginx runs the real proxy in front of a server until the test ends, and returns
// its address. site is its configuration, in which FRONT stands for that.
func nginx(t *testing.T, site string) string {
	t.Helper()
	program := proxyProgram(t, "nginx", "nginx-light libnginx-mod-stream")
	folder, front := t.TempDir(), reserve(t)
	kit.WriteFile(t, filepath.Join(folder, "nginx.conf"), strings.ReplaceAll(site, "FRONT", front)+
		"daemon off; master_process off; pid nginx.pid; error_log stderr; events {}\n")
	beginProxy(t, front, exec.Command(program, "-p", folder, "-c", "nginx.conf", "-e", "stderr"))
	return front
}

// haproxy does the same with HAProxy.
func haproxy(t *testing.T, site string) string {
	t.Helper()
	program := proxyProgram(t, "haproxy", "haproxy")
	front := reserve(t)
	file := kit.NewFile(t, "haproxy.cfg", strings.ReplaceAll(site, "FRONT", front))
	beginProxy(t, front, exec.Command(program, "-db", "-f", file))
	return front
}

func proxyProgram(t *testing.T, name, packages string) string {
	t.Helper()
	found, _ := exec.LookPath(name)
	program := cmp.Or(found, "/usr/sbin/"+name)
	if _, err := os.Stat(program); err != nil {
		kit.MustSkip(t, name+" is not installed; on Debian: apt-get install "+packages)
	}
	return program
}

// beginProxy starts a proxy and waits until it listens.
func beginProxy(t *testing.T, front string, cmd *exec.Cmd) {
	t.Helper()
	p := program.Begin(t, cmd)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s said:\n%s", cmd.Path, p.Out)
		}
	})
	p.Await(cmd.Path, func() bool {
		c, err := net.Dial("tcp", front)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// reserve keeps a free port until the test ends, for a program that can't take
// one by itself. Nobody else gets it, since it is bound; the program does, since
// nobody listens.
func reserve(t *testing.T) (address string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	kit.Must(t, err)
	t.Cleanup(func() { syscall.Close(fd) })
	err = errors.Join(syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1),
		syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	bound, e := syscall.Getsockname(fd)
	if err = errors.Join(err, e); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", bound.(*syscall.SockaddrInet4).Port)
}

// from is a client with an address of its own, that reaches the server at another.
func from(p *program.Process, address, front string) *program.Process {
	transport := p.Transport()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: 10 * time.Second}
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "tcp", front)
	}
	return &program.Process{T: p.T, URL: p.URL, Client: &http.Client{Transport: transport, Timeout: 30 * time.Second}}
}

func address(p *program.Process) string {
	_, address, _ := strings.Cut(p.URL, "://")
	return address
}

// statuses are what requests of one client are answered with: a plain one, and
// two with an address that it forged.
func statuses(p *program.Process) string {
	var got []int
	for _, headers := range [][]string{nil, {"X-Forwarded-For", "203.0.113.9"}, {"Forwarded", "for=203.0.113.9"}} {
		got = append(got, p.Must("GET", "/members", program.ReadKey, headers...).Status)
	}
	return fmt.Sprint(got)
}

// eachHasItsLimit holds two clients to one request a minute each, whatever they
// write.
func eachHasItsLimit(t *testing.T, p *program.Process, front string) {
	t.Helper()
	for _, address := range []string{"127.0.0.2", "127.0.0.3"} {
		if got := statuses(from(p, address, front)); got != "[200 429 429]" {
			t.Errorf("%s is answered %s", address, got)
		}
	}
}

// nginxHTTP is the configuration of docs/proxies.md for a server at an address.
func nginxHTTP(t *testing.T, back string) string {
	t.Helper()
	const socket = "http://unix:/run/teamdata/http.sock"
	location := blockOf(t, "docs/proxies.md", "nginx", "location")
	if !strings.Contains(location, socket) {
		t.Fatal("the block of nginx in docs/proxies.md does not lead to the socket")
	}
	return inNginx("server {\n\tlisten FRONT;\n" + strings.Replace(location, socket, "http://"+back, 1) + "}\n")
}

// inNginx is a configuration with servers for HTTP.
func inNginx(servers string) string {
	return `http {
	access_log off;
	client_body_temp_path .; proxy_temp_path .; fastcgi_temp_path .; uwsgi_temp_path .; scgi_temp_path .;
	` + servers + `
}
`
}

// blockOf is the block of a page in a language that begins with a word.
func blockOf(t *testing.T, page, language, word string) string {
	t.Helper()
	_, block, begun := strings.Cut(kit.ReadText(t, page), "```"+language+"\n"+word)
	block, _, ended := strings.Cut(block, "```")
	if !begun || !ended {
		t.Fatalf("%s has no block of %s that begins with %s", page, language, word)
	}
	return word + block
}

func TestBehindNginx(t *testing.T) {
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--seed", program.Example,
		"--http", "--client-rate", "1", "--trusted-proxies", "127.0.0.1")
	eachHasItsLimit(t, p, nginx(t, nginxHTTP(t, address(p))))
	if got := statuses(from(p, "127.0.0.4", address(p))); got != "[200 429 429]" {
		t.Errorf("without the proxy it answers %s", got)
	}
}

func TestBehindNginxOnSocket(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "http.sock")
	p := program.OnSocket(t, path, filepath.Join(folder, "teamdata.db"), "--seed", program.Example, "--client-rate", "1")
	eachHasItsLimit(t, p, nginx(t, nginxHTTP(t, "unix:"+path)))
}

// Nothing that the admin API takes is too large for the proxy.
func TestBatchBehindNginx(t *testing.T) {
	seed := kit.NewFile(t, "seed.json", `{"operatorTokens":[{"id":"opr_1","name":"n","secret":"t0ken"}],"orgs":[{"id":"org_acme","name":"Acme"}]}`)
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--seed", seed, "--http", "--trusted-proxies", "127.0.0.1")
	front := nginx(t, nginxHTTP(t, address(p)))
	text := strings.Repeat(`\ud83d\ude80`, 200) // the longest that there is
	largest := `{"entries":[` + strings.Repeat(`{"action":"`+text+`","actorId":"`+text+`","targetId":"`+text+`"},`, 999) + `{"action":"a"}]}`
	q, _ := http.NewRequest("POST", "http://"+front+"/admin/v1/orgs/org_acme/audit-log/batch", strings.NewReader(largest))
	q.Header.Set("Authorization", "Bearer opr_1.t0ken")
	if a := kit.Fetch(t, p.Client, q); a.Status != http.StatusCreated {
		t.Errorf("it is answered %d %.200s", a.Status, a.Body)
	}
}

// By the PROXY protocol the client's address passes beneath TLS, which is ours.
func TestBehindNginxStream(t *testing.T) {
	if _, err := os.Stat(streamModule); err != nil {
		kit.MustSkip(t, "nginx has no stream module; on Debian: apt-get install libnginx-mod-stream")
	}
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--seed", program.Example,
		"--client-rate", "1", "--proxy-protocol", "--trusted-proxies", "127.0.0.1")
	eachHasItsLimit(t, p, nginx(t, "load_module "+streamModule+";\n"+
		"stream { server { listen FRONT; proxy_pass "+address(p)+"; proxy_protocol on; } }\n"))
}
