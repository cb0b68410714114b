package server

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// dialFrom connects to the server from another address of this machine. A reset
// is an error.
func (w *world) dialFrom(address string) (net.Conn, error) {
	w.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	c, err := d.DialContext(w.Context(), "tcp", w.listen())
	if err != nil {
		return nil, err
	}
	w.Cleanup(func() { c.Close() })
	return c, c.SetDeadline(time.Now().Add(20 * time.Second))
}

// knock connects, and tells whether the server answers.
func (w *world) knock(address string) (c net.Conn, accepted bool) {
	w.Helper()
	c, err := w.dialFrom(address)
	if err == nil {
		_, err = io.WriteString(c, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
	}
	if err == nil {
		_, err = c.Read(make([]byte, 512))
	}
	if err != nil && !wasReset(err) {
		w.Errorf("neither answered nor reset: %v", err)
	}
	return c, err == nil
}

func wasReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// lets holds whether the server answers from an address.
func (w *world) lets(address string, want bool) net.Conn {
	w.Helper()
	c, got := w.knock(address)
	if got != want {
		w.Fatalf("a connection from %s is accepted: %v", address, got)
	}
	return c
}

// untilOpen returns once so many connections are open.
func (w *world) untilOpen(n int) {
	w.Helper()
	l := w.server.connections
	for deadline := time.Now().Add(30 * time.Second); ; {
		l.mu.Lock()
		open := l.open
		l.mu.Unlock()
		if open == n {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("%d connections are open, and not %d", open, n)
		}
		<-time.After(time.Millisecond)
	}
}

func TestMaxConns(t *testing.T) {
	w := newWorld(t, Config{MaxConns: 3, Proxies: mustParse(t, "127.0.0.9")})
	first := w.lets("127.0.0.1", true)
	w.lets("127.0.0.2", true)
	w.lets("127.0.0.9", true)
	w.lets("127.0.0.3", false)
	w.lets("127.0.0.9", false)
	first.Close()
	w.untilOpen(2)
	w.lets("127.0.0.3", true)
}

func TestMaxClientConns(t *testing.T) {
	w := newWorld(t, Config{MaxClientConns: 2, Proxies: mustParse(t, "127.0.0.9")})
	first := w.lets("127.0.0.1", true)
	w.lets("127.0.0.1", true)
	w.lets("127.0.0.1", false)
	w.lets("127.0.0.2", true)
	for range 3 {
		w.lets("127.0.0.9", true) // a proxy
	}
	first.Close()
	w.untilOpen(5)
	w.lets("127.0.0.1", true)
	w.lets("127.0.0.1", false)
	if n := strings.Count(w.log.String(), "connections are refused"); n != 1 {
		t.Errorf("the log tells of it %d times:\n%s", n, w.log)
	}
}

// Who is refused is cut off before a word was said, and so before TLS.
func TestRefusedBeforeTLS(t *testing.T) {
	w := newWorld(t, Config{MaxClientConns: 1})
	w.listenWith(true)
	if _, err := w.dialFrom("127.0.0.1"); err != nil {
		t.Fatal(err)
	}
	w.untilOpen(1)
	c, err := w.dialFrom("127.0.0.1")
	if err == nil {
		_, err = c.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the second got %v", err)
	}
}

// However connections come and go, they are counted down as they were counted up.
func TestConnLimiterForgets(t *testing.T) {
	l := newConnLimiter(Config{MaxConns: 50, MaxClientConns: 8, Proxies: mustParse(t, "127.0.0.1")})
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 2000 {
				release, ok := l.acquire(netip.AddrFrom4([4]byte{127, 0, 0, byte((worker + i) % 5)}))
				if ok {
					release()
					release() // as a connection is closed twice
				}
			}
		})
	}
	group.Wait()
	if l.open != 0 || len(l.clients) != 0 {
		t.Errorf("%d are open, of %d clients", l.open, len(l.clients))
	}
}

// Two addresses of an IPv6 /64 are one client, to this limit as to the limits.
func TestConnLimiterCountsNetworks(t *testing.T) {
	l := newConnLimiter(Config{MaxClientConns: 1})
	if _, ok := l.acquire(netip.MustParseAddr("2001:db8::1")); !ok {
		t.Error("the first is refused")
	}
	for text, want := range map[string]bool{"2001:db8::2": false, "2001:db8:0:1::1": true} {
		if _, ok := l.acquire(netip.MustParseAddr(text)); ok != want {
			t.Errorf("%s: %v", text, ok)
		}
	}
}
