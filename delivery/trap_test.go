package delivery

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/internal/netguard"
)

// trap must not be reached: receivers on loopback, at the same port of
// several addresses, that acknowledge everything and count who connects.
type trap struct {
	port     string
	addrs    []netip.AddrPort
	accepted atomic.Int32
}

// loopbacks are the addresses at which a trap listens where the machine has
// them. The first is everywhere.
var loopbacks = []string{"127.0.0.1", "127.9.9.9", "::1"}

func newTrap(t testing.TB) *trap {
	t.Helper()
	for range 10 {
		r := &trap{port: "0"}
		if r.listen(t) {
			return r
		}
	}
	t.Fatal("no port is free at all loopback addresses")
	return nil
}

func (r *trap) listen(t testing.TB) bool {
	for _, ip := range loopbacks {
		l, err := net.Listen("tcp", net.JoinHostPort(ip, r.port))
		if errors.Is(err, syscall.EADDRINUSE) {
			return false
		}
		if err != nil {
			continue // this machine has no such address
		}
		addr := l.Addr().(*net.TCPAddr).AddrPort()
		r.addrs = append(r.addrs, addr)
		r.port = strconv.Itoa(int(addr.Port()))
		r.serve(t, l)
	}
	return true
}

func (r *trap) serve(t testing.TB, l net.Listener) {
	s := httptest.NewUnstartedServer(status(http.StatusNoContent))
	s.Listener.Close()
	s.Listener = l
	s.TLS = &tls.Config{Certificates: []tls.Certificate{trusted().issue(nil)}}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			r.accepted.Add(1)
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
}

func (r *trap) isAt(ip string) bool {
	return slices.ContainsFunc(r.addrs, func(a netip.AddrPort) bool { return a.Addr().String() == ip })
}

// url is that of a host at the trap's port.
func (r *trap) url(host string) string { return "https://" + host + ":" + r.port + "/hook" }

func (r *trap) checkUntouched(t testing.TB) {
	t.Helper()
	if n := r.accepted.Load(); n > 0 {
		t.Errorf("%d connections were made to where none may go", n)
	}
}

// recordingGuard lets a guard decide, and records the addresses that pass. Those
// outside this machine are not dialed even then.
type recordingGuard struct {
	guard  *netguard.Guard
	mu     sync.Mutex
	passed []string
}

var errNotDialed = errors.New("the guard lets it pass, and the test does not")

func (w *recordingGuard) control(network, address string, c syscall.RawConn) error {
	if err := w.guard.Control(network, address, c); err != nil {
		return err
	}
	addr := netip.MustParseAddrPort(address)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.passed = append(w.passed, addr.Addr().String())
	if ip := addr.Addr(); ip.IsLoopback() || ip.IsUnspecified() {
		return nil
	}
	return errNotDialed
}

func (w *recordingGuard) checkPassed(t testing.TB, want ...string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.Sort(w.passed)
	if got := slices.Compact(w.passed); !slices.Equal(got, want) {
		t.Errorf("the guard lets %v pass, not %v", got, want)
	}
}

// needsIPv6 skips a test of an IPv6 address on a machine without any.
func needsIPv6(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		kit.MustSkip(t, "there is no IPv6 here: "+err.Error())
	}
	l.Close()
}
