package delivery

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"teamdata/e2e/kit"
	"teamdata/internal/netguard"
	"teamdata/store"
)

// Reasons of failures that real sockets don't produce at will.
func TestReason(t *testing.T) {
	broken := &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)}
	for _, test := range []struct {
		err     error
		reached step
		want    string
	}{
		{broken, stepRequest, "the connection was closed before an answer came"},
		{broken, stepTLS, "the connection was closed during the TLS handshake"},
		{fmt.Errorf("a write failed: %w", broken), stepAnswer, "the connection was closed in the middle of the answer"},
		{errors.New("http: server closed idle connection"), stepRequest, "the connection was closed before an answer came"},
		{errors.New("tls: no"), stepTLS, "TLS: no"},
		{fmt.Errorf("readLoopPeekFailLocked: %w", &net.OpError{Op: "remote error", Err: errors.New("tls: expired certificate")}), stepRequest, "TLS: the receiver refused: expired certificate"},
		{errors.New("tls: no"), stepRequest, "tls: no"},
		{errors.New("one\r\ntwo\x00\x1b[31m\u0085three"), stepRequest, "one  two  [31m three"},
		{errors.New(strings.Repeat("é", 300)), stepRequest, strings.Repeat("é", 300)},
		{errors.New(strings.Repeat("é", 301)), stepRequest, strings.Repeat("é", 299) + "…"},
	} {
		if _, got := failure(test.err, test.reached); got != test.want {
			t.Errorf("%q at step %d: %q, not %q", test.err, test.reached, got, test.want)
		}
	}
}

// checkReason checks that a reason is short and one line.
func checkReason(t *testing.T, reason string) {
	t.Helper()
	if n := utf8.RuneCountInString(reason); n > maxReason || strings.ContainsFunc(reason, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.Errorf("the reason is %d characters long, or not one line: %q", n, reason)
	}
}

// Progress only goes forward, unless a request is made again.
func TestProgress(t *testing.T) {
	var p progress
	for _, s := range []step{stepConnect, stepWait, stepTLS, stepBegun} {
		p.reach(s)
	}
	if p.step() != stepWait {
		t.Errorf("it went back to step %d", p.step())
	}
	for s, text := range unfinished {
		if text == "" {
			t.Errorf("step %d has no words", s)
		}
	}
}

// network is what an attempt goes through, in place of the real one.
type network func(*http.Request) (*http.Response, error)

func (n network) RoundTrip(q *http.Request) (*http.Response, error) { return n(q) }

// An attempt ends exactly at the deadline, and only an attempt that the deadline
// ended has timed out.
func TestDeadline(t *testing.T) {
	never := func(q *http.Request) (*http.Response, error) {
		<-q.Context().Done()
		return nil, q.Context().Err()
	}
	late := func(q *http.Request) (*http.Response, error) { // a handler that returns when its client has gone
		<-q.Context().Done()
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}
	early := func(*http.Request) (*http.Response, error) { // a deadline of net's own
		<-time.After(time.Second)
		return nil, context.DeadlineExceeded
	}
	for name, test := range map[string]struct {
		network  network
		stopped  bool
		took     time.Duration
		timedOut bool
	}{
		"no answer":             {never, false, DefaultAttemptTimeout, true},
		"too late an answer":    {late, false, DefaultAttemptTimeout, true},
		"net's own deadline":    {early, false, time.Second, false},
		"cut off by a stop":     {never, true, 0, false},
		"answered after a stop": {late, true, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSender(Config{}.withDefaults())
				s.network = test.network
				e := store.Endpoint{URL: "https://receiver.example/", Secret: store.NewEndpointSecret()}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.stopped {
					cancel()
				}
				a, _ := s.send(ctx, &e, &store.Claim{})
				if a.Took() != test.took || a.TimedOut != test.timedOut || a.Status != 0 || a.Acknowledged() {
					t.Errorf("it took %s, timed out: %t, status %d, reason %q", a.Took(), a.TimedOut, a.Status, a.Reason)
				}
				if said := strings.HasPrefix(a.Reason, "no answer within 15s: "); said != test.timedOut {
					t.Errorf("the reason is %q", a.Reason)
				}
			})
		})
	}
}

// Each outcome, over real sockets.
func TestOutcomes(t *testing.T) {
	answer := func(status int) *httptest.Server {
		s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(s.Close)
		return s
	}
	good := answer(204)
	plain := httptest.NewServer(nil)
	t.Cleanup(plain.Close)
	silent, broken := onEachConn(t, func(net.Conn) {}), onEachConn(t, func(c net.Conn) {
		server := tls.Server(c, good.TLS)
		server.Read(make([]byte, 1))
		server.Close()
	})
	guard := netguard.New(netguard.Config{})

	for _, test := range []struct {
		want, url string
		control   func(string, string, syscall.RawConn) error
	}{
		{"acknowledged", good.URL, nil},
		{"3xx", answer(302).URL, nil},
		{"4xx", answer(410).URL, nil},
		{"5xx", answer(503).URL, nil},
		{"other", answer(700).URL, nil},
		{"1xx", answer(101).URL, nil},
		{"guard", good.URL, guard.Control},
		{"dns", "https://nowhere.invalid", nil},
		{"tls", strings.Replace(plain.URL, "http:", "https:", 1), nil},
		{"tls", answer(200).URL + "/stranger", nil},
		{"connect", "https://" + kit.Reserved(t), nil},
		{"broken", "https://" + broken, nil},
		{"timeout", "https://" + silent, nil},
	} {
		if !slices.Contains(Outcomes, test.want) {
			t.Errorf("%s is none of Outcomes", test.want)
		}
		pool := good.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		if strings.HasSuffix(test.url, "/stranger") {
			pool = x509.NewCertPool()
		}
		c := Config{RootCAs: pool, Control: test.control, resolver: noNames()}
		if test.want == "timeout" {
			c.AttemptTimeout = 50 * time.Millisecond
		}
		e := store.Endpoint{URL: test.url, Secret: store.NewEndpointSecret()}
		a, outcome := newSender(c.withDefaults()).send(t.Context(), &e, &store.Claim{})
		if outcome != test.want {
			t.Errorf("the outcome is %s, not %s; the reason is %q", outcome, test.want, a.Reason)
		}
	}
}

func TestOutcomeOfFailure(t *testing.T) {
	reset := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	for _, test := range []struct {
		err     error
		reached step
		want    string
	}{
		{reset, stepTLS, "tls"}, {reset, stepConnect, "connect"}, {reset, stepWait, "broken"}, {reset, stepAnswer, "broken"},
		{fmt.Errorf("dial: %w", &net.DNSError{}), stepLookUp, "dns"},
		{errors.New("no"), stepBegun, "connect"},
	} {
		if got, _ := failure(test.err, test.reached); got != test.want {
			t.Errorf("%v at step %d is %s, not %s", test.err, test.reached, got, test.want)
		}
	}
}
