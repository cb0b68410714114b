package program

import (
	"net/http"
	"testing"
	"time"

	"teamdata/e2e/kit"
)

// Connect makes a client of a server that others started.
func Connect(t testing.TB, url, caFile string) *Process {
	p := &Process{T: t, URL: url, CAFile: caFile, Out: kit.NewOutput()}
	p.Client = &http.Client{Transport: p.Transport(), Timeout: 30 * time.Second}
	return p
}

// Ended waits until a program has ended by itself, and returns its status.
func (p *Process) Ended() int {
	p.T.Helper()
	if !p.endsWithin(20 * time.Second) {
		p.T.Fatalf("it goes on; it said:\n%s", p.Out)
	}
	return p.Cmd.ProcessState.ExitCode()
}

func (p *Process) endsWithin(limit time.Duration) bool {
	if p.ended == nil {
		p.ended = make(chan struct{})
		go func() {
			p.Cmd.Wait()
			close(p.ended)
		}()
	}
	select {
	case <-p.ended:
		return true
	case <-time.After(limit):
		return false
	}
}

// StopWell is Stop for a program that is to end well.
func (p *Process) StopWell() {
	p.T.Helper()
	if err := p.Stop(); err != nil {
		p.T.Errorf("it ended with %v\n%s", err, p.Out)
	}
}
