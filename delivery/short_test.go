package delivery

import (
	"fmt"
	"net"
	"syscall"
	"testing"
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
