package bench

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"teamdata/internal/httpclient"
)

// stopGrace is how long a process may take to stop before it is killed. The
// server gives itself 8 seconds.
const stopGrace = 12 * time.Second

// process is one of the measured program.
type process struct {
	name string // for people
	cmd  *exec.Cmd
	log  tail          // of its stderr
	done chan struct{} // closed once it has ended, and err is set
	err  error
}

// newProcess prepares one that is killed when ctx ends.
func (s *session) newProcess(ctx context.Context, name string, args ...string) *process {
	p := &process{name: name, cmd: exec.CommandContext(ctx, s.Program, args...), done: make(chan struct{})}
	p.cmd.Env = cleanEnvironment()
	p.cmd.Stderr = &p.log
	p.cmd.WaitDelay = time.Second
	return p
}

// cleanEnvironment leaves out what would set flags of the measured program.
func cleanEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "TEAMDATA_") })
}

// start starts a process, which lives until the measurement ends at the latest.
func (s *session) start(p *process) error {
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("%s can't be started: %w", p.cmd.Path, err)
	}
	s.onEnd(p.kill)
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return nil
}

// stop ends it gracefully, and returns the CPU time that it took in all.
func (p *process) stop() (cpu time.Duration, err error) {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.cmd.Process.Kill() // there are systems without that signal
	}
	return p.wait()
}

// wait waits for its end, which should come soon.
func (p *process) wait() (cpu time.Duration, err error) {
	select {
	case <-p.done:
	case <-time.After(stopGrace):
		p.kill()
		return 0, p.failure("it did not stop")
	}
	if p.err != nil {
		return 0, p.failure("it failed: %v", p.err)
	}
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime(), nil
}

// kill ends it at once. It may have ended already.
func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.done
}

// failure is an error with the end of the process's log.
func (p *process) failure(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if log := p.log.String(); log != "" {
		what += "; it said: " + log
	}
	return fmt.Errorf("%s: %s", p.name, what)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const tailSize = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	t.last = t.last[max(0, len(t.last)-tailSize):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.last))
}

// readyTimeout is how long a start may take: that with the largest seed.
const readyTimeout = 2 * time.Minute

// server is a running `teamdata serve`.
type server struct {
	*process
	target
	data string // the path of its data file
}

// target is a server to send requests to.
type target struct {
	address string // host:port
	roots   *x509.CertPool
}

// serve runs a server on a data file, without limits, and waits until it is
// ready. webhookCA is the file of the receivers' authority.
func (s *session) serve(ctx context.Context, data, webhookCA string, flags ...string) (*server, error) {
	readyFile := data + ".ready"
	if err := os.Remove(readyFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // that of the start before would be taken for this one's
	}
	args := append([]string{
		"serve", "--data", data, "--listen", "127.0.0.1:0", "--ready-file", readyFile,
		"--webhook-ca", webhookCA, "--allow-endpoint-cidr", "127.0.0.0/8", "--key-rate", "0", "--client-rate", "0",
	}, flags...)
	v := &server{process: s.newProcess(ctx, "the server", args...), data: data}
	if err := s.start(v.process); err != nil {
		return nil, err
	}
	return v, v.awaitReady(ctx, readyFile)
}

func (v *server) awaitReady(ctx context.Context, file string) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(readyTimeout)
	for {
		if content, err := os.ReadFile(file); err == nil {
			return v.readReadyFile(content)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-v.done:
			return v.failure("it ended before it was ready")
		case <-deadline:
			return v.failure("it was not ready after %s", readyTimeout)
		}
	}
}

func (v *server) readReadyFile(content []byte) error {
	var ready struct{ URL, CAFile string }
	if err := json.Unmarshal(content, &ready); err != nil {
		return fmt.Errorf("the ready file: %w", err)
	}
	address, err := url.Parse(ready.URL)
	if err != nil {
		return fmt.Errorf("the ready file: %w", err)
	}
	v.address = address.Host
	v.roots, err = httpclient.Roots("the ready file", ready.CAFile)
	return err
}

// command runs a command of the measured program, and returns what it prints.
func (s *session) command(ctx context.Context, args ...string) ([]byte, error) {
	p := s.newProcess(ctx, "teamdata "+args[0], args...)
	out, err := p.cmd.Output()
	if err != nil {
		err = p.failure("it failed: %v", err)
	}
	return out, err
}

// checkNoneWaits checks that no delivery is still waiting in the data file of a
// stopped server.
func (s *session) checkNoneWaits(ctx context.Context, data string) error {
	out, err := s.command(ctx, "status", "--json", "--data", data)
	if err != nil {
		return err
	}
	var status struct{ Waiting struct{ Endpoints *int } }
	if err := json.Unmarshal(out, &status); err != nil || status.Waiting.Endpoints == nil {
		return fmt.Errorf("teamdata status does not say what waits: %.200s", out)
	}
	if n := *status.Waiting.Endpoints; n > 0 {
		return fmt.Errorf("deliveries to %d endpoints wait in the data file, although all were acknowledged", n)
	}
	return nil
}
