package delivery

import (
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// A receiver that is too busy to accept connections looks like one that is switched
// off.
func TestConnectionThatIsNotMade(t *testing.T) {
	t.Parallel()
	addr := newDeaf(t, "127.0.0.1", 0)
	a, timeout := inTime(t, stepConnect, func(timeout time.Duration) store.Attempt {
		return sendOnce(t, "https://"+addr.String(), Config{AttemptTimeout: timeout})
	})
	if want := late(timeout, stepConnect); a.Reason != want || !a.TimedOut {
		t.Errorf("reason %q, not %q; timed out: %t", a.Reason, want, a.TimedOut)
	}
}

// Of a name with two addresses, one dead, the living one gets the delivery
// within the same attempt. If the other refuses, net gives up the dead
// one by a deadline of its own, which is not the attempt's.
func TestOneAddressIsDead(t *testing.T) {
	t.Parallel()
	w := newWire(t, secured(goodTLS(), afterRequest(says(ok))))
	port := w.Addr().(*net.TCPAddr).Port
	dead := newDeaf(t, "127.9.9.9", port)
	config := Config{
		RootCAs: trusted().roots(), AttemptTimeout: 3 * time.Second, Schedule: []time.Duration{},
		resolver: newNames(t, map[string]string{"receiver.example": "127.9.9.9 127.0.0.1", "other.example": "127.9.9.9 127.8.8.8"}).resolver(),
	}
	env := newEnv(t)
	env.run(config)
	sent := env.sendToAll([]string{fmt.Sprintf("https://receiver.example:%d/", port), fmt.Sprintf("https://other.example:%d/", port)})
	env.onlyAttemptOf(sent[0], store.StateAcknowledged)
	a := env.onlyAttemptOf(sent[1], store.StateFailed)
	if want := fmt.Sprintf("dial tcp %s: i/o timeout", dead); a.Reason != want || a.TimedOut {
		t.Errorf("reason %q, not %q; timed out: %t", a.Reason, want, a.TimedOut)
	}
}

// newDeaf listens with room for no connection: Linux drops the packets that
// would begin one.
func newDeaf(t *testing.T, ip string, port int) netip.AddrPort {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	kit.Must(t, err)
	t.Cleanup(func() { syscall.Close(fd) })
	at := &syscall.SockaddrInet4{Port: port, Addr: netip.MustParseAddr(ip).As4()}
	kit.Must(t, syscall.Bind(fd, at))
	kit.Must(t, syscall.Listen(fd, 0))
	name, err := syscall.Getsockname(fd)
	kit.Must(t, err)
	addr := netip.AddrPortFrom(netip.AddrFrom4(at.Addr), uint16(name.(*syscall.SockaddrInet4).Port))
	c, err := net.Dial("tcp", addr.String()) // takes the one place there is
	kit.Must(t, err)
	t.Cleanup(func() { c.Close() })
	return addr
}
