package delivery

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"teamdata/store"
)

// What we are short of ourselves is told from what is wrong with a receiver.
func TestShortage(t *testing.T) {
	dial := func(to string, err error) error {
		address, e := net.ResolveTCPAddr("tcp", to)
		if e != nil {
			t.Fatal(e)
		}
		return fmt.Errorf("post: %w", &net.OpError{Op: "dial", Addr: address, Err: err})
	}
	for _, test := range []struct {
		err  error
		want bool
	}{
		{dial("192.0.2.1:443", syscall.EMFILE), true},
		{dial("[2001:db8::1]:443", syscall.ENFILE), true},
		{dial("192.0.2.1:443", syscall.EADDRNOTAVAIL), true},
		{dial("[2001:db8::1]:443", syscall.EADDRNOTAVAIL), false}, // a machine without IPv6
		{&net.DNSError{Err: "dial udp 192.0.2.53:53: socket: " + syscall.EMFILE.Error()}, true},
		{&net.DNSError{Err: "no such host", IsNotFound: true}, false},
		{dial("192.0.2.1:443", syscall.ECONNREFUSED), false},
		{nil, false},
	} {
		if got := shortage(test.err); got != test.want {
			t.Errorf("%v is a shortage: %t", test.err, got)
		}
	}
}

// failing is a network on which no request succeeds.
type failing struct {
	err    error
	closed int // how often connections that wait were closed
}

func (f *failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }
func (f *failing) CloseIdleConnections()                           { f.closed++ }

// A shortage of our own closes the connections that wait, and a receiver's fault doesn't.
func TestShortageClosesConnections(t *testing.T) {
	e := &store.Endpoint{URL: "https://a.example/", Secret: store.NewEndpointSecret()}
	for err, want := range map[syscall.Errno]int{syscall.EMFILE: 1, syscall.ECONNREFUSED: 0} {
		s, network := newSender(Config{}.withDefaults()), &failing{err: &net.OpError{Op: "dial", Err: err}}
		s.network = network
		_, outcome := s.send(t.Context(), e, &store.Claim{})
		if network.closed != want || (outcome == outcomeShort) != (want > 0) {
			t.Errorf("%v: %s, and %d times closed", err, outcome, network.closed)
		}
	}
}

// Receivers' certificates are verified by the clock that is set for it; and while that is
// in doubt, one that has expired or is not yet valid by it is no fault of the receiver.
func TestCertificatesOfAnotherTime(t *testing.T) {
	t.Parallel()
	r := httptest.NewUnstartedServer(status(http.StatusNoContent))
	soon := trusted().issue(func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
	})
	r.TLS = &tls.Config{Certificates: []tls.Certificate{soon}}
	r.StartTLS()
	defer r.Close()
	at := func(ahead time.Duration) func() time.Time { return func() time.Time { return time.Now().Add(ahead) } }
	e := &store.Endpoint{URL: r.URL, Secret: store.NewEndpointSecret()}
	for _, test := range []struct {
		at       func() time.Time
		roots    *x509.CertPool
		doubtful bool
		want     string
	}{
		{at(90 * time.Minute), trusted().roots(), false, "acknowledged"},
		{nil, trusted().roots(), false, "tls"},
		{nil, trusted().roots(), true, outcomeShort},
		{at(3 * time.Hour), trusted().roots(), false, "tls"},
		{at(3 * time.Hour), trusted().roots(), true, outcomeShort},
		{at(90 * time.Minute), x509.NewCertPool(), true, "tls"},
	} {
		config := Config{RootCAs: test.roots, CertificateTime: test.at, ClockInDoubt: func() bool { return test.doubtful }}
		a, outcome := newSender(config.withDefaults()).send(t.Context(), e, &store.Claim{})
		if outcome != test.want {
			t.Errorf("%+v: %s, %s", test, outcome, a.Reason)
		}
	}
}
