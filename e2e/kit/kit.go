// Package kit is what tests have in common: the size at which they run and the seed they
// draw from (size.go), a store with a clock for the tests of a handler (env.go), files,
// ports and output. Beside it stand, each in a package of its own:
//
//   - program: the built program, started on real sockets and files
//   - load: clients and receivers, while something happens to the program
//   - contract, referee: what is asked and answered, held to an OpenAPI document by our own
//     JSON Schema, or by a library
//   - orgs: the orgs that the tests of the API know
//   - engines, postgres: the engine that the tests of handlers run on; a database server
//   - postbox: an SMTP server that keeps what it gets
//   - issuer: a CA that issues certificates
//   - pebble, site: an ACME authority; a server whose certificate is replaced
//
// They are for tests alone. A helper that only one package needs stays in its tests.
package kit

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Must ends a test that can't go on after an error. Without one it costs a benchmark nothing:
// Helper, which takes longer than much of what is measured, waits for the error.
func Must(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Answer is what a request was answered with.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Fetch makes a request that is to be answered.
func Fetch(t testing.TB, client *http.Client, r *http.Request) Answer {
	t.Helper()
	a, err := TryFetch(client, r)
	Must(t, err)
	return a
}

// Get fetches a page.
func Get(t testing.TB, client *http.Client, url string) Answer {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	Must(t, err)
	return Fetch(t, client, r)
}

// TryFetch makes a request that may get no answer.
func TryFetch(client *http.Client, r *http.Request) (a Answer, err error) {
	answer, err := client.Do(r)
	if err != nil {
		return a, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return Answer{answer.StatusCode, answer.Header, string(body)}, err
}

// ClientAt is a client all of whose connections, one a request, lead to an address, whatever
// the name in the URL is.
func ClientAt(address string, roots *x509.CertPool) *http.Client {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}
}

// Refused reports whether a server took no connection: it is down, or was about to be
// when the connection was made.
func Refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET)
}

// Until polls for something that another process or goroutine does, less often the longer it
// takes, since polls cost the time of processors that other tests want. It reports whether
// that was done before a limit.
func Until(limit time.Duration, done func() bool) bool {
	deadline := time.After(limit)
	for pause := 2 * time.Millisecond; !done(); pause = min(pause*11/10, 20*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-deadline:
			return false
		}
	}
	return true
}

// Output gathers what a program prints while it is read.
type Output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func NewOutput() *Output { return &Output{} }

func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (o *Output) Lines() (lines []string) {
	for s := bufio.NewScanner(strings.NewReader(o.String())); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}
