package delivery

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/delivery/egress"
	"teamdata/e2e/kit"
	"teamdata/store"
)

const refusal = "HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n"

// valve freezes connections: while it is locked nothing passes.
type valve struct{ sync.RWMutex }

type frozenBy struct {
	net.Conn
	*valve
}

func (f frozenBy) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	f.RLock()
	defer f.RUnlock()
	return n, err
}

func (f frozenBy) Write(b []byte) (int, error) {
	f.RLock()
	defer f.RUnlock()
	return f.Conn.Write(b)
}

// runWith starts a dispatcher, until the test ends.
func (env *env) runWith(c Config) *Dispatcher {
	d := New(env.store, c)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { d.Run(ctx, ctx) })
	env.Cleanup(func() { cancel(); running.Wait() })
	return d
}

// bothTLS is of receivers that are receiver.example and dead.example.
func bothTLS() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{trusted().issue(func(c *x509.Certificate) { c.DNSNames = append(c.DNSNames, "dead.example") })}}
}

// awaitAll waits until an endpoint has acknowledged n deliveries, each at its first attempt.
func (env *env) awaitAll(e store.Endpoint, n int) {
	env.Helper()
	var list []store.Delivery
	kit.Until(20*time.Second, func() bool {
		env.view(func(tx store.Tx) (err error) {
			list, _, err = tx.DeliveryPage(e.Number, store.ListAcknowledged, store.Cursor{}, n+1)
			return err
		})
		return len(list) == n
	})
	if len(list) != n {
		env.Errorf("%d of %d have arrived", len(list), n)
	}
	for _, one := range list {
		if one.Attempts != 1 || len(one.History) != 1 {
			env.Errorf("%s took %d attempts: %+v", one.ID, one.Attempts, one.History)
		}
	}
}

// holding is a receiver that acknowledges requests, unless it is to hold them.
type holding struct {
	*wire
	arrived atomic.Int32 // that it held
	until   atomic.Pointer[chan struct{}]
}

func newHolding(t testing.TB) *holding {
	h := new(holding)
	h.wire = newWire(t, secured(bothTLS(), func(c net.Conn) {
		for readRequest(c) {
			if until := h.until.Load(); until != nil {
				h.arrived.Add(1)
				<-*until
			}
			io.WriteString(c, ok)
		}
	}))
	return h
}

// hold makes it hold the requests from now on, until release.
func (h *holding) hold(t testing.TB) (release func()) {
	until := make(chan struct{})
	h.until.Store(&until)
	h.arrived.Store(0)
	release = sync.OnceFunc(func() { h.until.Store(nil); close(until) })
	t.Cleanup(release)
	return release
}

func (h *holding) awaitHeld(t testing.TB, n int32) {
	t.Helper()
	if !kit.Until(20*time.Second, func() bool { return h.arrived.Load() == n }) {
		t.Fatalf("the receiver has got %d of %d", h.arrived.Load(), n)
	}
}

// A proxy that fails under tunnels that are in use or kept costs nobody an attempt: neither
// those over the tunnels nor those that wait for one. Once it works, or another one in its
// place, everything arrives, over new tunnels.
func TestProxyFailsUnderTunnels(t *testing.T) {
	t.Parallel()
	for name, timeout := range map[string]time.Duration{
		"freezes and thaws": time.Second, "freezes and is replaced": time.Second, "freezes for less than a timeout": 3 * time.Second,
		"freezes behind a balancer": time.Second, "is killed": time.Minute, "refuses the user": time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			receiver := newHolding(t)
			var refuses, closes atomic.Bool
			p := &tunnels{to: func(c net.Conn, _ string) string {
				if refuses.Load() {
					return answersWith(refusal)(c, "")
				}
				return receiver.Addr().String()
			}}
			var frozen valve
			thaw := sync.OnceFunc(frozen.Unlock)
			address := kit.Reserved(t)
			w := newWireOn(t, kit.ListenOn(t, address), func(c net.Conn) {
				if !closes.Load() {
					p.speak(frozenBy{c, &frozen})
				}
			})
			c := throughProxy(t, "http://"+address, func(c *egress.Config) { c.Step = 200 * time.Millisecond })
			c.AttemptTimeout = timeout
			env := newEnv(t)
			d := env.runWith(c)
			endpoints := []store.Endpoint{env.endpoint("https://dead.example/"), env.endpoint("https://receiver.example/")}
			ids := []string{endpoints[0].ID, endpoints[1].ID}
			for range 3 {
				for _, id := range ids {
					env.awaitState(env.sendTest(id).ID, store.StateAcknowledged)
				}
			}
			release := receiver.hold(t)
			env.sendTests(ids, 3)
			receiver.awaitHeld(t, 6)
			release()
			for _, e := range endpoints {
				env.awaitAll(e, 6) // and three tunnels each are kept
			}

			sent := 5 // three over those tunnels
			switch name {
			case "is killed":
				release = receiver.hold(t)
			case "refuses the user":
				refuses.Store(true)
				w.mu.Lock()
				for _, c := range w.conns {
					c.Close()
				}
				w.mu.Unlock()
			case "freezes behind a balancer": // that closes new connections
				closes.Store(true)
				sent = 1
				frozen.Lock()
				t.Cleanup(thaw)
			case "freezes and is replaced":
				sent = 1 // two tunnels each are kept
				fallthrough
			default:
				frozen.Lock()
				t.Cleanup(thaw)
			}
			env.sendTests(ids, sent)
			if name == "is killed" {
				receiver.awaitHeld(t, int32(2*sent))
				w.end()
				release()
			}
			if !kit.Until(20*time.Second, func() bool { return d.ProxyDown() != nil && d.GivenBack() > 0 }) {
				t.Fatalf("%d were given back, and the proxy %v", d.GivenBack(), d.ProxyDown())
			}
			switch name {
			case "refuses the user":
				refuses.Store(false)
			case "freezes behind a balancer":
				closes.Store(false)
				thaw()
			case "freezes and thaws":
				thaw()
			default:
				w.Close()
				newWireOn(t, kit.ListenOn(t, address), p.speak)
			}
			if !kit.Until(20*time.Second, func() bool { return d.ProxyDown() == nil }) {
				t.Fatalf("the proxy %v", d.ProxyDown())
			}
			env.sendTests(ids, 1)
			for _, e := range endpoints {
				env.awaitAll(e, 6+sent+1)
			}
			if n := d.GivenBack(); n > 30 {
				t.Errorf("%d were given back", n)
			}
		})
	}
}

// A receiver that hangs in a tunnel uses up its own attempts, whatever the proxy says when it
// is asked about itself.
func TestReceiverHangsBehindProxy(t *testing.T) {
	t.Parallel()
	for name, about := range map[string]func(net.Conn){
		"answers": nil, "closes": func(net.Conn) {}, "is silent": listenOn, "refuses the user": says(refusal),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			receiver := newWire(t, secured(goodTLS(), afterRequest(func(c net.Conn) {
				io.WriteString(c, ok)
				listenOn(c)
			})))
			w := newWire(t, (&tunnels{to: always(receiver), about: about}).speak)
			c := throughProxy(t, "http://"+w.Addr().String(), func(c *egress.Config) { c.Step = 300 * time.Millisecond })
			c.AttemptTimeout = 300 * time.Millisecond
			log := &lockedBuffer{}
			logger := zerolog.New(log)
			env := newEnv(t)
			c.Log = &logger
			d := env.runWith(c)
			e := env.endpoint("https://receiver.example/")
			env.onlyAttemptOf(env.sendTest(e.ID).ID, store.StateAcknowledged)
			if a := env.onlyAttemptOf(env.sendTest(e.ID).ID, store.StateFailed); !a.TimedOut {
				t.Errorf("%+v", a)
			}
			if said := log.String(); d.GivenBack() > 0 || strings.Contains(said, "egress proxy") {
				t.Errorf("%d were given back, and the log says %s", d.GivenBack(), said)
			}
		})
	}
}

// What the proxy refuses to one receiver alone is that one's attempt, and stops nobody for
// longer than it takes to find out.
func TestProxyFailsForOneReceiver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers func(net.Conn) // when it is asked for the one, and about itself
		status  int
		reason  string // empty: that it was silent, or that its time was over
	}{
		"refuses": {says(refusal), 407, "the proxy %s answered 407 Proxy Authentication Required to CONNECT"},
		"closes":  {func(net.Conn) {}, 0, "the proxy %s closed the connection without an answer"},
		"silent":  {listenOn, 0, ""},
	} {
		for _, first := range []string{"the one first", "the other first"} {
			t.Run(name+", "+first, func(t *testing.T) {
				t.Parallel()
				receiver := newWire(t, acks(goodTLS()))
				p := &tunnels{about: test.answers, to: func(c net.Conn, target string) string {
					if target == public+":443" {
						return receiver.Addr().String()
					}
					test.answers(c)
					return ""
				}}
				w := newWire(t, p.speak)
				c := throughProxy(t, "http://"+w.Addr().String(), func(c *egress.Config) { c.Step = 200 * time.Millisecond })
				c.AttemptTimeout = time.Second
				env := newEnv(t)
				d := env.runWith(c)
				dead, other := env.endpoint("https://dead.example/"), env.endpoint("https://receiver.example/")
				var waiting store.Delivery
				if first == "the one first" { // nothing else is known, so everybody waits
					waiting = env.sendTest(dead.ID)
					if !kit.Until(20*time.Second, func() bool { return d.ProxyDown() != nil }) {
						t.Fatal("the proxy works")
					}
				}
				env.onlyAttemptOf(env.sendTest(other.ID).ID, store.StateAcknowledged)
				if waiting.ID == "" {
					waiting = env.sendTest(dead.ID)
				}
				before := d.GivenBack()
				a := env.onlyAttemptOf(waiting.ID, store.StateFailed)
				if want := fmt.Sprintf(test.reason, w.Addr()); a.Status != test.status || test.reason != "" && a.Reason != want {
					t.Errorf("%d %q, not %q", a.Status, a.Reason, want)
				}
				asked := len(p.asked())
				env.onlyAttempt("https://dead.example/", store.StateFailed)
				if list := p.asked()[asked:]; slices.Contains(list, "CONNECT "+public+":443") {
					t.Errorf("the other receiver is connected to once more: %q", list)
				}
				if d.ProxyDown() != nil || first == "the other first" && d.GivenBack() > 0 || d.GivenBack() > before+1 {
					t.Errorf("%d were given back, and the proxy %v", d.GivenBack(), d.ProxyDown())
				}
			})
		}
	}
}

// A proxy that has failed is not asked for an address that the guard refuses, be it one of
// several of a name.
func TestProbeAsksForJudgedAddress(t *testing.T) {
	t.Parallel()
	p := &tunnels{to: answersWith(refusal)}
	w := newWire(t, p.speak)
	c := throughProxy(t, "http://"+w.Addr().String(), nil)
	c.resolver = newNames(t, map[string]string{"receiver.example": "10.0.0.1 " + public}).resolver()
	env := newEnv(t)
	env.runWith(c)
	env.sendTest(env.endpoint("https://receiver.example/").ID)
	if !kit.Until(20*time.Second, func() bool { return len(p.asked()) > 1 }) {
		t.Fatal("it was not probed")
	}
	for _, asked := range p.asked() {
		if asked != "CONNECT "+public+":443" {
			t.Errorf("the proxy was asked for %q", asked)
		}
	}
}

// An attempt whose time is over before the proxy has had its steps is not counted if the proxy
// turns out to be silent.
func TestAttemptShorterThanSteps(t *testing.T) {
	t.Parallel()
	w := newWire(t, listenOn)
	c := throughProxy(t, "http://"+w.Addr().String(), func(c *egress.Config) { c.Step = 400 * time.Millisecond })
	c.AttemptTimeout = 100 * time.Millisecond
	e := store.Endpoint{URL: "https://receiver.example/", Secret: store.NewEndpointSecret()}
	if a, outcome := newSender(c.withDefaults()).send(t.Context(), &e, &store.Claim{}); outcome != outcomeBehind || !a.StartedAt.IsZero() {
		t.Errorf("%s: %+v", outcome, a)
	}
}

// An attempt that the proxy's end cut off may have reached the receiver, so that it stays one
// of its rate.
func TestAttemptCutOffByProxy(t *testing.T) {
	t.Parallel()
	receiver := newHolding(t)
	release := receiver.hold(t)
	w := newWire(t, (&tunnels{to: always(receiver.wire)}).speak)
	s := newSender(throughProxy(t, "http://"+w.Addr().String(), nil).withDefaults())
	e := store.Endpoint{URL: "https://receiver.example/", Secret: store.NewEndpointSecret()}
	var a store.Attempt
	var outcome string
	var sending sync.WaitGroup
	sending.Go(func() { a, outcome = s.send(t.Context(), &e, &store.Claim{}) })
	receiver.awaitHeld(t, 1)
	w.end()
	sending.Wait()
	release()
	if outcome != outcomeBehind || a.StartedAt.IsZero() {
		t.Errorf("%s: %+v", outcome, a)
	}
}
