package delivery

import (
	"fmt"
	"net"
	"net/http"
	"syscall"
	"testing"

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
