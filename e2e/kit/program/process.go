package program

import (
	"net/http"
	"teamdata/e2e/kit"
	"testing"
	"time"
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
	end := make(chan error, 1)
	go func() { end <- p.Cmd.Wait() }()
	select {
	case <-end:
		return p.Cmd.ProcessState.ExitCode()
	case <-time.After(20 * time.Second):
		p.T.Fatalf("it goes on; it said:\n%s", p.Out)
		return 0
	}
}

// StopWell is Stop for a program that is to end well.
func (p *Process) StopWell() {
	p.T.Helper()
	if err := p.Stop(); err != nil {
		p.T.Errorf("it ended with %v\n%s", err, p.Out)
	}
}
