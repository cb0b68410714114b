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
		if got := reason(test.err, test.reached); got != test.want {
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
	for s, text := range undone {
		if text == "" {
			t.Errorf("step %d has no words", s)
		}
	}
}

// An attempt ends with the deadline, to the moment.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSender(Config{}.withDefaults())
		s.network = never{}
		e := store.Endpoint{URL: "https://receiver.example/", Secret: store.NewEndpointSecret()}
		a := s.send(context.Background(), &e, &store.Claim{})
		if a.Took() != DefaultAttemptTimeout || !a.TimedOut || !strings.HasPrefix(a.Reason, "no answer within 15s: ") {
			t.Errorf("it took %s, timed out: %t, reason %q", a.Took(), a.TimedOut, a.Reason)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if a := s.send(ctx, &e, &store.Claim{}); a.TimedOut || a.Took() != 0 {
			t.Errorf("cut off by a stop, it took %s, timed out: %t", a.Took(), a.TimedOut)
		}
	})
}

// never answers.
type never struct{}

func (never) RoundTrip(q *http.Request) (*http.Response, error) {
	<-q.Context().Done()
	return nil, q.Context().Err()
}

// What an attempt says of its receiver, and what that does to its window.
func TestOutcomes(t *testing.T) {
	for _, test := range []struct {
		attempt store.Attempt
		want    outcome
		window  int // after it, from 16 of at most 20
	}{
		{store.Attempt{Status: 204}, acknowledged, 20},
		{store.Attempt{Status: 500, Reason: "x"}, inVain, 8},
		{store.Attempt{Reason: "x"}, inVain, 8},
		{store.Attempt{Reason: "x", TimedOut: true}, timedOut, 1},
	} {
		l := lane{window: 16, inFlight: 1}
		l.landed(outcomeOf(&test.attempt), 20)
		if got := outcomeOf(&test.attempt); got != test.want || l.window != test.window || l.inFlight != 0 {
			t.Errorf("%+v: outcome %d, window %d", test.attempt, got, l.window)
		}
	}
	l := lane{window: 1, inFlight: 1}
	if l.landed(inVain, 20); l.window != 1 {
		t.Errorf("a window of 1 became %d", l.window)
	}
}
