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
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"teamdata/internal/netguard"
	"teamdata/store"
	"teamdata/store/boltstore"
)

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
	refused, _ := net.Listen("tcp", "127.0.0.1:0")
	refused.Close()
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
		{"connect", "https://" + refused.Addr().String(), nil},
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
		c := Config{RootCAs: pool, Control: test.control, AttemptTimeout: 5 * time.Second, resolver: noNames()}
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

// An attempt that a stop cuts off does not count.
func TestOnAttemptAfterStop(t *testing.T) {
	d := New(newBench(t).store, Config{})
	d.OnAttempt(func(_, _, outcome string, _ time.Duration) {
		t.Errorf("an attempt with the outcome %s counts", outcome)
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.attempt(job{ctx, &store.Endpoint{URL: "https://127.0.0.1:1", Secret: store.NewEndpointSecret()}, &store.Claim{}})
}

// An attempt is reported with its org, its endpoint, its outcome and how long it
// took.
func TestOnAttempt(t *testing.T) {
	b := newBench(t)
	r := newReceiver(t, nil)
	d := New(b.store, Config{RootCAs: r.roots()})
	reports := make(chan string, 1)
	d.OnAttempt(func(org, endpoint, outcome string, took time.Duration) {
		if took <= 0 {
			t.Errorf("it took %s", took)
		}
		reports <- org + " " + endpoint + " " + outcome
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- d.Run(ctx, t.Context()) }()
	e := b.endpoint(r.URL)
	b.sendTest(e.ID)
	if got, want := <-reports, testOrg+" "+e.ID+" acknowledged"; got != want {
		t.Errorf("reported %s, not %s", got, want)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
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

// noNames finds no name, without a network.
func noNames() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("there is no name server")
	}}
}

// onEachConn listens, and gives each connection to fn.
func onEachConn(t *testing.T, fn func(net.Conn)) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			go fn(c)
		}
	}()
	return l.Addr().String()
}

// A dispatcher is alive while Run comes around: not before, and not afterwards.
func TestAlive(t *testing.T) {
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "teamdata.db"), boltstore.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d := New(s, Config{})
	soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := d.Alive(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("before Run: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- d.Run(ctx, t.Context()) }()
	for range 3 {
		if err := d.Alive(t.Context()); err != nil {
			t.Error(err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	soon, cancel = context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := d.Alive(soon); err == nil {
		t.Error("alive after the end of Run")
	}
}
