package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"teamdata/e2e/kit"
)

// The commands of the stories, in the order of their list in scripts_test.go.

// mustEnd runs the program, which must end with a status.
func mustEnd(ts *testscript.TestScript, args []string, want int) {
	s := storyOf(ts)
	err := ts.Exec(s.binary, args...)
	status := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		status = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	s.transcript.WriteString("$ teamdata " + strings.Join(args, " ") + "\n" + ts.ReadFile("stdout"))
	if status != want {
		ts.Fatalf("it ended with %d, not with %d", status, want)
	}
}

func keepOutput(ts *testscript.TestScript, name string) {
	ts.Setenv(name, strings.TrimSpace(ts.ReadFile("stdout")))
}

func (s *story) serve(ts *testscript.TestScript, flags []string) {
	ready := ts.MkAbs("ready.json")
	os.Remove(ready)
	s.out = kit.NewOutput()
	args := []string{"serve", "--data", cmp.Or(ts.Getenv("TEAMDATA_DATA"), ts.MkAbs("teamdata.db")), "--listen", "127.0.0.1:0", "--ready-file", ready}
	s.server = exec.Command(s.binary, append(args, flags...)...)
	s.server.Dir, s.server.Stdout, s.server.Stderr = ts.MkAbs("."), s.out, s.out
	ts.Defer(func() { ts.Logf("the server said:\n%s", s.out) })
	ts.Check(s.server.Start())
	var told struct {
		URL, CAFile string
	}
	until(ts, "the ready file", func() bool {
		content, err := os.ReadFile(ready)
		return err == nil && json.Unmarshal(content, &told) == nil || strings.Contains(s.out.String(), "teamdata: ")
	})
	if told.URL == "" {
		ts.Fatalf("the server did not start")
	}
	ts.Setenv("URL", told.URL)
	ts.Setenv("CA", told.CAFile)
}

// end ends the server of the script by a signal.
func (s *story) end(ts *testscript.TestScript, signal syscall.Signal) {
	ts.Check(s.server.Process.Signal(signal))
	if err := s.server.Wait(); err != nil && signal != syscall.SIGKILL {
		ts.Fatalf("the server ended with %v\n%s", err, s.out)
	}
	s.server = nil
}

// get prints what the API answers.
func get(ts *testscript.TestScript, args []string) {
	header := http.Header{}
	if len(args) > 1 {
		header.Set("Authorization", "Bearer "+args[1])
	}
	answered(ts, ts.Getenv("URL")+"/api/v1"+args[0], header)
}

// answered prints what the server answers, and fails unless it is a 200.
func answered(ts *testscript.TestScript, url string, header http.Header) {
	q, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	ts.Check(err)
	if header != nil {
		q.Header = header
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(ts.ReadFile(ts.Getenv("CA"))))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	r, err := (&http.Client{Transport: transport, Timeout: 30 * time.Second}).Do(q)
	ts.Check(err)
	defer r.Body.Close()
	_, err = io.Copy(ts.Stdout(), r.Body)
	ts.Check(err)
	if r.StatusCode != http.StatusOK {
		ts.Fatalf("answered %s", r.Status)
	}
}

func awaitText(ts *testscript.TestScript, text, file string) {
	until(ts, "the text", func() bool {
		content, err := os.ReadFile(ts.MkAbs(file))
		return err == nil && strings.Contains(string(content), text)
	})
}

// tear cuts the last bytes of a file. Less than none are added, as NULs.
func tear(ts *testscript.TestScript, file, bytes string) {
	n, err := strconv.ParseInt(bytes, 10, 64)
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(file))
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(file), max(0, info.Size()-n)))
}

// until polls for something that another process does.
func until(ts *testscript.TestScript, what string, done func() bool) {
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			ts.Fatalf("%s did not come", what)
		}
	}
}
