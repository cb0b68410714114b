package app_test

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

func TestMain(m *testing.M) { program.Main(m) }

// connect makes a client of a server in this process.
func connect(t testing.TB, url, caFile string) *program.Process {
	p := &program.Process{T: t, URL: url, CAFile: caFile}
	p.Client = &http.Client{Transport: p.Transport(), Timeout: 30 * time.Second}
	return p
}

// serveTLS serves a handler over HTTPS on a free port of this machine, until the
// test ends. The CA to trust is in caFile.
func serveTLS(t testing.TB, handler http.Handler) (url, caFile string) {
	t.Helper()
	return startTLS(t, httptest.NewUnstartedServer(handler))
}

// startTLS does the same with a server that has settings of its own.
func startTLS(t testing.TB, s *httptest.Server) (url, caFile string) {
	t.Helper()
	s.StartTLS()
	t.Cleanup(s.Close)
	caFile = filepath.Join(t.TempDir(), "receiver.ca.pem")
	kit.WriteFile(t, caFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	return s.URL + "/hook", caFile
}

// refused reports whether a server took no connection: it is down, or was about to be
// when the connection was made.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET)
}

// ended waits until a program has ended by itself, and returns its status.
func ended(p *program.Process) int {
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
