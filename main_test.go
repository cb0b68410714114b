package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"teamdata/app"
	"teamdata/internal/openapitest"
	"teamdata/server/openapi"
)

// full runs the end-to-end tests at the sizes that are promised, and not at
// those of every day.
var full = flag.Bool("full", false, "run the end-to-end tests at full size")

// binary is the real program, built once for all tests that start it.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	folder, err := os.MkdirTemp("", "teamdata-test-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(folder, "teamdata")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v\n%s", err, out))
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// process is a running teamdata.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	url    string
	caFile string
	client *http.Client
	out    *output
}

// serveProcess starts `teamdata serve` on a free port and waits until it is
// ready.
func serveProcess(t testing.TB, data string, flags ...string) *process {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready.json")
	p := &process{t: t, out: newOutput()}
	args := append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0", "--ready-file", ready}, flags...)
	p.cmd = exec.Command(binary, args...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	p.awaitReady(ready)
	return p
}

func (p *process) awaitReady(file string) {
	p.t.Helper()
	var ready struct {
		URL, CAFile string
		PID         int
	}
	p.await("the ready file", func() bool {
		content, err := os.ReadFile(file)
		return err == nil && json.Unmarshal(content, &ready) == nil
	})
	if ready.PID != p.cmd.Process.Pid {
		p.t.Fatalf("the ready file names process %d, not %d", ready.PID, p.cmd.Process.Pid)
	}
	p.url, p.caFile = ready.URL, ready.CAFile
	p.client = &http.Client{Transport: p.transport(), Timeout: 30 * time.Second}
}

func (p *process) transport() *http.Transport {
	t := &http.Transport{MaxIdleConnsPerHost: 64}
	if p.caFile != "" {
		pem, err := os.ReadFile(p.caFile)
		if err != nil {
			p.t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		t.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	p.t.Cleanup(t.CloseIdleConnections)
	return t
}

// await polls for something that another process does.
func (p *process) await(what string, done func() bool) {
	p.t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			p.t.Fatalf("%s did not come; the program said:\n%s", what, p.out)
		}
	}
}

// kill is kill -9, to this process alone.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// stop asks the program to stop, as a service manager does, and returns how it
// ended.
func (p *process) stop() error {
	p.cmd.Process.Signal(syscall.SIGTERM)
	return p.cmd.Wait()
}

// answer is what a request was answered with.
type answer struct {
	status int
	header http.Header
	body   string
}

// do makes a request to a path of the API with a key; headers are pairs.
func (p *process) do(method, path, key string, headers ...string) (answer, error) {
	q, err := http.NewRequestWithContext(context.Background(), method, p.url+"/api/v1"+path, nil)
	if err != nil {
		return answer{}, err
	}
	q.Header.Set("Authorization", "Bearer "+key)
	for i := 0; i+1 < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	r, err := p.client.Do(q)
	if err != nil {
		return answer{}, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err == nil {
		p.holdsToDescription(q, r, body)
	}
	return answer{r.StatusCode, r.Header, string(body)}, err
}

// holdsToDescription complains of an exchange that is not as the API's description
// has it.
func (p *process) holdsToDescription(q *http.Request, r *http.Response, body []byte) {
	header := r.Header.Clone()
	header.Del("Server") // a proxy's
	x := openapitest.Exchange{Method: q.Method, URL: q.URL, RequestHeader: q.Header, Status: r.StatusCode, Header: header, Body: body}
	for _, fault := range described().Faults(x) {
		p.t.Errorf("not as in openapi.yaml: %s\n%s", fault, body)
	}
}

var described = sync.OnceValue(func() *openapitest.Contract {
	document, _ := openapi.Of("2026-10-06")
	contract, err := openapitest.Read(document.JSON)
	if err != nil {
		panic(err)
	}
	return contract
})

// must is do for a request that reaches the server.
func (p *process) must(method, path, key string, headers ...string) answer {
	p.t.Helper()
	a, err := p.do(method, path, key, headers...)
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

// run runs the program to its end, which is to come soon.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, binary, args...).CombinedOutput()
	if ctx.Err() != nil {
		t.Errorf("teamdata %v did not end", args)
	}
	return string(out), err
}

// output gathers what a program prints while it is read.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func newOutput() *output { return &output{} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (o *output) lines() (lines []string) {
	for s := bufio.NewScanner(strings.NewReader(o.String())); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

// mustSkip skips a test that needs something which is not on this machine. In
// CI everything is there, so that a skip is a failure.
func mustSkip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal("in CI this can't be skipped: " + why)
	}
	t.Skip(why)
}

// connect makes a client of an appliance in this process.
func connect(t testing.TB, a *app.Appliance) *process {
	p := &process{t: t, url: a.URL(), caFile: a.CAFile()}
	p.client = &http.Client{Transport: p.transport(), Timeout: 30 * time.Second}
	return p
}
