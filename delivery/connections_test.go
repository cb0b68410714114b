package delivery

import (
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/store"
)

// A receiver that accepts and never speaks holds no connection for longer than
// an attempt may take, though net/http would go on waiting; nor does one that
// switches to another protocol.
func TestIdleReceiversHoldNothing(t *testing.T) {
	t.Parallel()
	const upgrade = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
	for name, speak := range map[string]func(net.Conn){
		"never speaks":       listenOn,
		"switches protocols": secured(goodTLS(), afterRequest(says(upgrade))),
		"trickles":           secured(goodTLS(), trickle("HTTP/1.1 200 OK\r\n\r\n", "")),
		"trickles no answer": secured(goodTLS(), trickle("HTTP/1.1 200 OK\r\n", "X: ")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			closed := make(chan struct{}, 10)
			w := newWire(t, func(c net.Conn) {
				speak(c)
				closed <- struct{}{}
			})
			sendOnce(t, w.url(), Config{RootCAs: trusted().roots(), AttemptTimeout: 300 * time.Millisecond})
			select {
			case <-closed:
			case <-time.After(20 * time.Second):
				t.Error("the connection is still open")
			}
		})
	}
}

// A receiver that closes connections between deliveries costs no attempt: the
// request is made again at once, over another.
func TestIdleConnectionIsClosedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWire(t, secured(goodTLS(), func(c net.Conn) {
		if readRequest(c) {
			io.WriteString(c, ok)
			readRequest(c) // the next one is on its way as this side closes
		}
	}))
	env := newEnv(t)
	env.run(Config{RootCAs: trusted().roots(), Schedule: []time.Duration{}})
	const n = 5
	for range n {
		env.onlyAttempt(w.url(), store.StateAcknowledged)
	}
	if got := w.accepted.Load(); got != n {
		t.Errorf("%d deliveries took %d connections", n, got)
	}
}

// If that other connection is not made, the reason speaks of it, and not of the
// one that was closed.
func TestSecondConnectionHangs(t *testing.T) {
	t.Parallel()
	var connections atomic.Int32
	answering := secured(goodTLS(), func(c net.Conn) {
		if readRequest(c) {
			io.WriteString(c, ok)
			readRequest(c)
		}
	})
	w := newWire(t, func(c net.Conn) {
		if connections.Add(1) == 1 {
			answering(c)
		} else {
			listenOn(c)
		}
	})
	e := store.Endpoint{URL: w.url(), Secret: store.NewEndpointSecret()}
	a, timeout := inTime(t, stepTLS, func(timeout time.Duration) store.Attempt {
		connections.Store(0)
		s := newSender(Config{RootCAs: trusted().roots()}.withDefaults())
		if a, _ := s.send(context.Background(), &e, &store.Claim{}); !a.Acknowledged() {
			t.Fatal(a.Reason)
		}
		s.timeout = timeout
		a, _ := s.send(context.Background(), &e, &store.Claim{})
		return a
	})
	if want := late(timeout, stepTLS); a.Reason != want {
		t.Errorf("the reason is %q, not %q", a.Reason, want)
	}
}

// An answer of up to 16 KiB is read to its end, so that the connection is used
// again.
func TestConnectionIsUsedAgain(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("x", maxAnswer-1)
	w := newWire(t, secured(goodTLS(), func(c net.Conn) {
		for readRequest(c) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 16383\r\n\r\n"+body)
		}
	}))
	env := newEnv(t)
	env.run(Config{RootCAs: trusted().roots(), Schedule: []time.Duration{}})
	for range 3 {
		a := env.onlyAttempt(w.url(), store.StateAcknowledged)
		if string(a.Answer) != body[:store.MaxKeptAnswer] {
			t.Errorf("%d bytes of the answer are kept", len(a.Answer))
		}
	}
	if got := w.accepted.Load(); got != 1 {
		t.Errorf("3 deliveries took %d connections", got)
	}
}

// A receiver does not read a body that is too long for any buffer.
func TestRequestIsNotRead(t *testing.T) {
	t.Parallel()
	w := newWire(t, secured(goodTLS(), func(c net.Conn) { <-t.Context().Done() }))
	e := store.Endpoint{URL: w.url(), Secret: store.NewEndpointSecret()}
	claim := store.Claim{Body: make([]byte, 32<<20)}
	a, timeout := inTime(t, stepRequest, func(timeout time.Duration) store.Attempt {
		s := newSender(Config{RootCAs: trusted().roots(), AttemptTimeout: timeout}.withDefaults())
		a, _ := s.send(context.Background(), &e, &claim)
		return a
	})
	if want := late(timeout, stepRequest); a.Reason != want {
		t.Errorf("the reason is %q, not %q", a.Reason, want)
	}
}

// inTime makes an attempt that is to time out, until it gets as far as a step: where a
// busy machine does not in time, the next attempt has more.
func inTime(t *testing.T, as step, attempt func(timeout time.Duration) store.Attempt) (a store.Attempt, timeout time.Duration) {
	t.Helper()
	for timeout = 100 * time.Millisecond; ; timeout *= 2 {
		a = attempt(timeout)
		early := slices.ContainsFunc(unfinished[:as], func(text string) bool { return strings.HasSuffix(a.Reason, text) })
		if !early || timeout > 10*time.Second {
			return a, timeout
		}
	}
}
