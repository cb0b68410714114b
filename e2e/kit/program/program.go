// Package program is the built program, for the tests below e2e: built once a test process,
// started on real sockets and files, and held to the API's description in each of its
// answers. In a run with the race detector the program is built with it, too (build.go).
package program

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
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

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/contract"
	"teamdata/e2e/kit/referee"
)

// Example is the fixture that `serve --demo` serves too, with [ReadKey] and
// [WriteKey].
const Example = "cli/testdata/example.json"

// Domain is the name of the server where it has one.
const Domain = "data.acme.test"

// Keys of the example org.
const (
	ReadKey  = "key_read.example-reader-secret"
	WriteKey = "key_write.example-writer-secret"
)

// Process is a running teamdata.
type Process struct {
	T      testing.TB
	Cmd    *exec.Cmd
	URL    string
	CAFile string
	Client *http.Client
	Out    *kit.Output

	ended chan struct{} // closed once it has ended; nil: nobody waits for that with a limit
}

// Serve starts `teamdata serve` on a free port and waits until it is
// ready.
func Serve(t testing.TB, data string, flags ...string) *Process {
	t.Helper()
	return ServeBy(t, Binary(t), data, flags...)
}

// ServeBy is Serve by another binary than [Binary].
func ServeBy(t testing.TB, binary, data string, flags ...string) *Process {
	t.Helper()
	return BeginServing(t, exec.Command(binary, append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0"}, flags...)...))
}

// BeginServing begins a program whose arguments end with those of `teamdata serve`, and waits
// until it is ready.
func BeginServing(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready.json")
	cmd.Args = append(cmd.Args, "--ready-file", ready)
	p := Begin(t, cmd)
	p.AwaitReady(ready)
	return p
}

func (p *Process) AwaitReady(file string) {
	p.T.Helper()
	var ready struct {
		URL, CAFile string
		PID         int
	}
	p.Await("the ready file", func() bool {
		content, err := os.ReadFile(file)
		return err == nil && json.Unmarshal(content, &ready) == nil
	})
	if ready.PID != p.Cmd.Process.Pid {
		p.T.Fatalf("the ready file names process %d, not %d", ready.PID, p.Cmd.Process.Pid)
	}
	p.URL, p.CAFile = ready.URL, ready.CAFile
	p.Client = &http.Client{Transport: p.Transport(), Timeout: 30 * time.Second}
}

func (p *Process) Transport() *http.Transport {
	t := &http.Transport{MaxIdleConnsPerHost: 64}
	if p.CAFile != "" {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM([]byte(kit.ReadText(p.T, p.CAFile)))
		t.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	p.T.Cleanup(t.CloseIdleConnections)
	return t
}

// Await polls for something that another process does.
func (p *Process) Await(what string, done func() bool) {
	p.T.Helper()
	if !kit.Until(30*time.Second, done) {
		p.traces()
		p.T.Fatalf("%s did not come; the program said:\n%s", what, p.Out)
	}
}

// traces ends a process, which then says what each goroutine was doing.
func (p *Process) traces() {
	if p.Cmd == nil { // the test itself serves
		return
	}
	p.Cmd.Process.Signal(syscall.SIGQUIT)
	p.endsWithin(5 * time.Second) // unless it was paused
}

// Kill is kill -9, to this process alone.
func (p *Process) Kill() {
	p.Cmd.Process.Kill()
	if p.ended == nil {
		p.Cmd.Wait()
		return
	}
	<-p.ended
}

// Stop asks the program to stop, as a service manager does, and returns how it
// ended.
func (p *Process) Stop() error {
	p.Cmd.Process.Signal(syscall.SIGTERM)
	return p.Cmd.Wait()
}

// Do makes a request to a path of the API with a key; headers are pairs.
func (p *Process) Do(method, path, key string, headers ...string) (kit.Answer, error) {
	q, err := p.request(method, path, key, headers)
	if err != nil {
		return kit.Answer{}, err
	}
	a, err := kit.TryFetch(p.Client, q)
	if err == nil {
		p.holdsToDescription(q, a)
	}
	return a, err
}

// Get is Do for one of very many requests: its answer is not held to the API's
// description, which takes longer than the answer.
func (p *Process) Get(path, key string) (kit.Answer, error) {
	q, err := p.request("GET", path, key, nil)
	if err != nil {
		return kit.Answer{}, err
	}
	return kit.TryFetch(p.Client, q)
}

func (p *Process) request(method, path, key string, headers []string) (*http.Request, error) {
	q, err := http.NewRequestWithContext(context.Background(), method, p.URL+"/api/v1"+path, nil)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Authorization", "Bearer "+key)
	for i := 0; i+1 < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	return q, nil
}

// holdsToDescription complains of an answer that is not as the API's description
// has it.
func (p *Process) holdsToDescription(q *http.Request, a kit.Answer) {
	header := a.Header.Clone()
	header.Del("Server") // a proxy's
	x := contract.Exchange{Method: q.Method, URL: q.URL, RequestHeader: q.Header, Status: a.Status, Header: header, Body: []byte(a.Body)}
	for _, fault := range described().Faults(x) {
		p.T.Errorf("not as in openapi.yaml: %s\n%s", fault, a.Body)
	}
}

var described = sync.OnceValue(func() *contract.Contract {
	document, err := os.ReadFile("wire/openapi/openapi.json")
	if err != nil {
		panic(err)
	}
	contract, err := contract.ReadBy(referee.Compile, document)
	if err != nil {
		panic(err)
	}
	return contract
})

// Must is Do for a request that reaches the server.
func (p *Process) Must(method, path, key string, headers ...string) kit.Answer {
	p.T.Helper()
	a, err := p.Do(method, path, key, headers...)
	kit.Must(p.T, err)
	return a
}

// Run runs the program to its end, which is to come soon.
func Run(t testing.TB, args ...string) (string, error) {
	t.Helper()
	return RunBy(t, Binary(t), args...)
}

// RunBy is Run by another binary than [Binary].
func RunBy(t testing.TB, binary string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, binary, args...).CombinedOutput()
	if ctx.Err() != nil {
		t.Errorf("teamdata %v did not end", args)
	}
	return string(out), err
}

// ErrorOf is the error that a command printed, in one line with its hint behind a
// semicolon. It is not ok unless that is all that the command printed.
func ErrorOf(out string) (line string, ok bool) {
	line, advice, hinted := strings.Cut(strings.TrimSuffix(out, "\n"), "\n  hint: ")
	if hinted {
		line += "; " + advice
	}
	return line, strings.HasPrefix(line, "teamdata: ") && !strings.Contains(line, "\n")
}

func Begin(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{T: t, Out: kit.NewOutput(), Cmd: cmd}
	for _, stream := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		if *stream == nil {
			*stream = p.Out
		}
	}
	kit.Must(t, cmd.Start())
	t.Cleanup(p.Kill)
	return p
}

// MustRun runs the program, which is to succeed, and returns what it said.
func MustRun(t testing.TB, args ...string) string {
	t.Helper()
	out, err := Run(t, args...)
	if err != nil {
		t.Fatalf("teamdata %v: %v\n%s", args, err, out)
	}
	return out
}

// Says waits for words.
func (p *Process) Says(words string) {
	p.T.Helper()
	p.Await(words, func() bool { return strings.Contains(p.Out.String(), words) })
}

// Says runs the program, which is to end with a status and to say some words.
func Says(t testing.TB, status int, args []string, wants ...string) {
	t.Helper()
	out, err := Run(t, args...)
	if (err == nil) != (status == 0) {
		t.Errorf("teamdata %v ended with %v\n%s", args, err, out)
	}
	for _, want := range wants {
		if !strings.Contains(out, want) {
			t.Errorf("teamdata %v does not say %q:\n%s", args, want, out)
		}
	}
}
