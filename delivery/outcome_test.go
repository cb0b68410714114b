package delivery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"teamdata/store"
)

// Reasons of what real sockets don't do at will.
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

// checkReason holds any reason to its form.
func checkReason(t *testing.T, reason string) {
	t.Helper()
	if n := utf8.RuneCountInString(reason); n > maxReason || strings.ContainsFunc(reason, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.Errorf("the reason is %d characters long, or not one line: %q", n, reason)
	}
}

// Progress goes forward, but for a request that is made again.
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

// An attempt ends with the deadline, to the moment; and only what the deadline
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

// What an attempt does to its endpoint's window.
func TestWindow(t *testing.T) {
	for _, test := range []struct {
		attempt      store.Attempt
		before, want int // of at most 20
	}{
		{store.Attempt{Status: 204}, 4, 8},
		{store.Attempt{Status: 204}, 16, 20},
		{store.Attempt{Status: 500, Reason: "x"}, 16, 8},
		{store.Attempt{Reason: "x"}, 16, 8},
		{store.Attempt{Reason: "x"}, 1, 1},
		{store.Attempt{Reason: "x", TimedOut: true}, 16, 1},
	} {
		q := endpointQueue{window: test.before, inFlight: 1}
		if q.finish(&test.attempt, 20); q.window != test.want || q.inFlight != 0 || q.healthy() != (test.want > 1) {
			t.Errorf("%+v: from %d the window becomes %d, not %d", test.attempt, test.before, q.window, test.want)
		}
	}
}
