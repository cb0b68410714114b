package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopGrace is how long a process may take to stop before it is killed. The
// appliance gives itself 8 seconds.
const stopGrace = 12 * time.Second

// child is a process of the measured program.
type child struct {
	name string // for people
	cmd  *exec.Cmd
	log  tail          // of what it says on stderr
	done chan struct{} // closed once it has ended, and err is set
	err  error
}

// newChild prepares a process that is killed when ctx ends.
func (s *session) newChild(ctx context.Context, name string, args ...string) *child {
	c := &child{name: name, cmd: exec.CommandContext(ctx, s.Program, args...), done: make(chan struct{})}
	c.cmd.Env = cleanEnvironment()
	c.cmd.Stderr = &c.log
	c.cmd.WaitDelay = time.Second
	return c
}

// cleanEnvironment leaves out what would set flags of the measured program.
func cleanEnvironment() (clean []string) {
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "TEAMDATA_") {
			clean = append(clean, variable)
		}
	}
	return clean
}

func (c *child) start() error {
	if err := c.cmd.Start(); err != nil {
		return fmt.Errorf("%s can't be started: %w", c.cmd.Path, err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.done)
	}()
	return nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// stop ends it gracefully, and returns the CPU time that it took in all.
func (c *child) stop() (cpu time.Duration, err error) {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.cmd.Process.Kill() // there are systems without that signal
	}
	return c.wait()
}

// wait waits for its end, which is to come soon.
func (c *child) wait() (cpu time.Duration, err error) {
	select {
	case <-c.done:
	case <-time.After(stopGrace):
		c.kill()
		return 0, c.failure("it did not stop")
	}
	if c.err != nil {
		return 0, c.failure("it failed: %v", c.err)
	}
	return c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime(), nil
}

// kill ends it at once. It may have ended already.
func (c *child) kill() {
	c.cmd.Process.Kill()
	<-c.done
}

// failure is an error with what the process said last.
func (c *child) failure(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if said := c.log.String(); said != "" {
		what += "; it said: " + said
	}
	return fmt.Errorf("%s: %s", c.name, what)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const tailSize = 2 << 10

var _ io.Writer = (*tail)(nil)

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
